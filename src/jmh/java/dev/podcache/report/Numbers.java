package dev.podcache.report;

import java.util.Locale;

/** Writes numbers for people: three digits that count, thousands with commas. */
final class Numbers {

    private Numbers() {}

    /** All digits that a limit has. */
    static String exact(double limit) {
        return String.format(Locale.ROOT, "%,.3f", limit).replaceFirst("\\.?0+$", "");
    }

    static String text(double value) {
        double size = Math.abs(value);
        if (size < 0.005) {
            return "0";
        }
        String format = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
        String text = String.format(Locale.ROOT, format, value);
        return text.endsWith(".0") || text.endsWith(".00") ? text.substring(0, text.indexOf('.')) : text;
    }
}
