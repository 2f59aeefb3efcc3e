package dev.podcache.time;

import com.google.common.math.LongMath;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Formats timestamps as the Kubernetes API does, in whole seconds and UTC: upstream's {@code metav1.Time}. */
public final class ApiTime {

    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final int NANOS_PER_MICRO = 1_000;

    private ApiTime() {}

    /** Returns a time without its fraction of a second, such as {@code 2026-01-01T00:00:00Z}. */
    public static String of(Instant time) {
        return time.truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /** Returns the time of a text in RFC 3339 format; empty if there is none or it is invalid. */
    public static Optional<Instant> parse(@Nullable String time) {
        // a year of more than four digits has a sign, and is none in RFC 3339
        if (time == null || time.isEmpty() || time.charAt(0) == '+' || time.charAt(0) == '-') {
            return Optional.empty();
        }
        try {
            return Optional.of(Instant.parse(time));
        } catch (DateTimeParseException invalid) {
            return Optional.empty();
        }
    }

    /** Returns a {@code metav1.MicroTime} in microseconds since 1970; the nearest {@code long} if it has none. */
    public static long micros(ZonedDateTime time) {
        return LongMath.saturatedAdd(
                LongMath.saturatedMultiply(time.toEpochSecond(), MICROS_PER_SECOND), time.getNano() / NANOS_PER_MICRO);
    }

    /**
     * Returns {@code time} without its fraction of a second. Returns invalid text unchanged, and null for null or empty
     * text.
     */
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
            // the API server rejects the text and says why
            return time;
        }
    }

    /**
     * Returns whether a text has the form that {@link #of} writes. A shortcut: parsing would dominate the cost of an
     * unchanged status. Invalid text may pass, because {@link #truncated} does not change it. Excludes midnight written
     * as 24:00 and leap seconds, which {@link #of} writes differently.
     */
    private static boolean isWholeSecondsInUtc(String time) {
        return time.length() == "2026-01-01T00:00:00Z".length()
                && time.charAt(10) == 'T'
                && time.charAt(19) == 'Z'
                && !time.startsWith("24", 11)
                && !time.startsWith("60", 17);
    }
}
