package dev.podcache.object;

import java.util.Locale;

/**
 * Writes numbers for people, thousands with commas.
 *
 * @hidden
 */
@NotApi
public final class Numbers {

    private Numbers() {}

    /** Returns all digits that a limit has, at most three after the point. */
    public static String exact(double limit) {
        return String.format(Locale.ROOT, "%,.3f", limit).replaceFirst("\\.?0+$", "");
    }

    /** Returns three digits that count; {@code 0} for what is nearly zero. */
    public static String text(double value) {
        double size = Math.abs(value);
        if (size < 0.005) {
            return "0";
        }
        String format = size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f";
        String text = String.format(Locale.ROOT, format, value);
        return text.endsWith(".0") || text.endsWith(".00") ? text.substring(0, text.indexOf('.')) : text;
    }
}
