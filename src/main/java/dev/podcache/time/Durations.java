package dev.podcache.time;

import java.time.Duration;
import java.util.Objects;

/**
 * Checks durations that callers configure. Cuts them to a hundred years, so that computing a deadline in nanoseconds
 * cannot overflow.
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
            throw new IllegalArgumentException(name + " must be positive, but is " + value);
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
            throw new IllegalArgumentException(name + " must be at least " + least + ", but is " + value);
        }
        return cut(value);
    }

    private static Duration cut(Duration value) {
        return value.compareTo(LONGEST) > 0 ? LONGEST : value;
    }
}
