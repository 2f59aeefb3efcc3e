package dev.podcache.time;

import com.google.common.collect.Comparators;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Objects;

/**
 * Checks durations that callers configure, and writes them. Cuts them to a hundred years, so that computing a deadline
 * in nanoseconds cannot overflow.
 */
public final class Durations {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    private Durations() {}

    /**
     * Returns {@code value}, at most a hundred years.
     *
     * @param name the name of the option, for the message
     * @throws IllegalArgumentException unless {@code value} is positive
     */
    public static Duration positive(String name, Duration value) {
        if (Objects.requireNonNull(value, name).compareTo(Duration.ZERO) <= 0) {
            throw new IllegalArgumentException(name + " must be positive, but is " + text(value));
        }
        return cut(value);
    }

    /**
     * Returns {@code value}, at most a hundred years.
     *
     * @param name the name of the option, for the message
     * @throws IllegalArgumentException if {@code value} is shorter than {@code least}
     */
    public static Duration atLeast(Duration least, String name, Duration value) {
        if (Objects.requireNonNull(value, name).compareTo(least) < 0) {
            throw new IllegalArgumentException(name + " must be at least " + text(least) + ", but is " + text(value));
        }
        return cut(value);
    }

    /**
     * Returns a number of seconds that an object of the cluster or a server has, at most a hundred years. The API server
     * accepts numbers that no computation of a deadline can take.
     */
    public static Duration ofSeconds(long seconds) {
        long longest = LONGEST.toSeconds();
        return Duration.ofSeconds(Math.max(-longest, Math.min(longest, seconds)));
    }

    /** Returns the nanoseconds of a duration that others have computed, at most a hundred years. */
    public static long nanos(Duration duration) {
        return Comparators.max(LONGEST.negated(), cut(duration)).toNanos();
    }

    /** Returns a duration as Go prints it, such as {@code 1m30s} or {@code 1.5ms}. */
    public static String text(Duration duration) {
        if (duration.isNegative()) {
            return "-" + text(Comparators.max(duration, LONGEST.negated()).negated());
        }
        if (duration.compareTo(Duration.ofSeconds(1)) < 0) {
            return duration.isZero() ? "0s" : plain(BigDecimal.valueOf(duration.toNanos(), 6)) + "ms";
        }
        String hours = duration.toHours() > 0 ? duration.toHours() + "h" : "";
        String minutes = duration.toMinutes() > 0 ? duration.toMinutesPart() + "m" : "";
        return hours + minutes
                + plain(BigDecimal.valueOf(duration.toSecondsPart()).add(BigDecimal.valueOf(duration.toNanosPart(), 9)))
                + "s";
    }

    private static String plain(BigDecimal number) {
        return number.stripTrailingZeros().toPlainString();
    }

    private static Duration cut(Duration value) {
        return value.compareTo(LONGEST) > 0 ? LONGEST : value;
    }
}
