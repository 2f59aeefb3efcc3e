package dev.podcache.time;

import java.time.Duration;

/**
 * An exponential backoff with jitter: the first pause doubles with each failure in a row, up to a cap. Each pause is
 * shortened by up to half at random, so that clients that failed together do not retry together. Immutable.
 *
 * @param first the longest pause after one failure
 * @param cap the longest pause after any number of failures
 */
public record Backoff(Duration first, Duration cap) {

    public Backoff {
        if (first.isNegative() || first.isZero() || cap.compareTo(first) < 0) {
            throw new IllegalArgumentException(
                    "the first pause must be positive and at most the cap, but they are " + first + " and " + cap);
        }
    }

    /**
     * Returns the pause after the latest of {@code failures} failures in a row.
     *
     * @param failures the number of failures in a row, at least 1
     * @param random uniform in [0, 1)
     * @return between half of the doubled and capped pause, and all of it
     */
    public Duration pause(int failures, double random) {
        long whole = cap.toNanos();
        int doublings = Math.min(failures - 1, 62);
        if (first.toNanos() <= whole >> doublings) {
            whole = first.toNanos() << doublings;
        }
        return Duration.ofNanos(whole - (long) (whole * random / 2));
    }
}
