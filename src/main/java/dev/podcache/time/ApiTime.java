package dev.podcache.time;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Timestamps as the API has them: whole seconds, in UTC. What upstream calls {@code metav1.Time}. */
public final class ApiTime {

    private ApiTime() {}

    /** A time without its fraction, such as {@code 2026-01-01T00:00:00Z}. */
    public static String of(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** The same time without its fraction; what is no time is returned as it is, and null for null or empty text. */
    public static @Nullable String truncated(@Nullable String time) {
        if (time == null || time.isEmpty()) {
            return null;
        }
        if (isWholeSecondsInUtc(time)) {
            return time;
        }
        try {
            return of(Instant.parse(time));
        } catch (DateTimeParseException noTime) {
            // the API server refuses it and says so
            return time;
        }
    }

    /**
     * Whether a text has the form that {@link #of} writes, or else is no time. Parsing is what a status
     * with nothing new would otherwise spend most on. Midnight as 24:00 and leap seconds have the form
     * too, and are written otherwise.
     */
    private static boolean isWholeSecondsInUtc(String time) {
        return time.length() == "2026-01-01T00:00:00Z".length()
                && time.charAt(10) == 'T'
                && time.charAt(19) == 'Z'
                && !time.startsWith("24", 11)
                && !time.startsWith("60", 17);
    }
}
