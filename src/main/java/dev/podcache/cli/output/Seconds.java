package dev.podcache.cli.output;

import java.util.Locale;

/** Formats times that are given in seconds. */
public final class Seconds {

    private Seconds() {}

    /** Returns a time for people, in milliseconds below a second. */
    public static String text(double seconds) {
        if (seconds < 0.0005) {
            return "under 1 ms";
        }
        return seconds < 0.9995 ? Math.round(seconds * 1000) + " ms" : String.format(Locale.ROOT, "%.2f s", seconds);
    }

    /** Returns a time for programs, rounded to milliseconds. */
    public static double rounded(double seconds) {
        return Math.round(seconds * 1000) / 1000.0;
    }
}
