/**
 * Measures, and makes tables and plots of what was measured. Begin with {@link dev.podcache.report.Measure} and {@link
 * dev.podcache.report.Draw}; in between lies the JSON under {@code src/jmh/results}.
 */
@NullMarked
package dev.podcache.report;

import org.jspecify.annotations.NullMarked;
