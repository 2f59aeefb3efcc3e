package dev.podcache.podstatus;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Timestamps as the API has them: whole seconds. */
final class ApiTime {

    private ApiTime() {}

    static String of(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** The same time without its fraction; what is no time is returned as it is. */
    static @Nullable String truncated(@Nullable String time) {
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
