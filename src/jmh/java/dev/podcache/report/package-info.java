/**
 * Measures, and makes tables and plots of what was measured. Start with {@link dev.podcache.report.Measure} and {@link
 * dev.podcache.report.Draw}; the JSON between them is in {@code src/jmh/results}.
 */
@NullMarked
package dev.podcache.report;

import org.jspecify.annotations.NullMarked;
