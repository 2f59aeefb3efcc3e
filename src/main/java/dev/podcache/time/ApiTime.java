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
        try {
            return of(Instant.parse(time));
        } catch (DateTimeParseException noTime) {
            // the API server refuses it and says so
            return time;
        }
    }
}
