package dev.podcache.time;

import java.time.Duration;

/**
 * How long to pause after the n-th failure in a row: the first pause doubled with each further failure, up to a cap,
 * and shortened by up to half at random so that many who failed together do not return together. Immutable.
 *
 * @param first the longest pause after one failure
 * @param cap the longest pause after any number of them
 */
public record Backoff(Duration first, Duration cap) {

    public Backoff {
        if (first.isNegative() || first.isZero() || cap.compareTo(first) < 0) {
            throw new IllegalArgumentException("a pause from " + first + " up to " + cap
                    + " is no backoff: the first must be positive, the cap at least it");
        }
    }

    /**
     * The pause after the latest of {@code failures} failures in a row.
     *
     * @param failures how many failures in a row there have been, at least 1
     * @param random uniform in [0, 1)
     * @return between half of, and all of, the doubled and capped pause
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
