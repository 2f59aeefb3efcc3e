package dev.podcache.report;

import java.util.Map;

/**
 * Tables and plots of one file of results.
 *
 * @param tables Markdown, by the name of the block that it fills
 * @param plots by file name
 */
record Report(Map<String, String> tables, Map<String, BarChart> plots) {}
