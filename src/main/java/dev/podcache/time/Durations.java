package dev.podcache.time;

import java.time.Duration;
import java.util.Objects;

/**
 * Checks durations that callers choose. What is longer than a hundred years is cut to that: it is as good as for ever,
 * and still a number of nanoseconds that a deadline can be computed with.
 */
public final class Durations {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    private Durations() {}

    /**
     * Returns {@code value}, cut.
     *
     * @param name of the option, for the message
     * @throws IllegalArgumentException unless it is positive
     */
    public static Duration positive(String name, Duration value) {
        if (Objects.requireNonNull(value, name).compareTo(Duration.ZERO) <= 0) {
            throw new IllegalArgumentException(name + " must be positive, but is " + value);
        }
        return cut(value);
    }

    /**
     * Returns {@code value}, cut.
     *
     * @param name of the option, for the message
     * @throws IllegalArgumentException if it is shorter than {@code least}
     */
    public static Duration atLeast(Duration least, String name, Duration value) {
        if (Objects.requireNonNull(value, name).compareTo(least) < 0) {
            throw new IllegalArgumentException(name + " must be at least " + least + ", but is " + value);
        }
        return cut(value);
    }

    private static Duration cut(Duration value) {
        return value.compareTo(LONGEST) > 0 ? LONGEST : value;
    }
}
