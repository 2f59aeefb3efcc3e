package dev.podcache.time;

import java.time.Duration;

/**
 * The pauses between attempts to reach an unreachable server: half a second in the first minute of the outage, then
 * jittered pauses that double from 1 s up to 10 s. Not thread-safe.
 */
public final class OutageBackoff {

    /** The pause in the first minute of an outage. */
    public static final Duration INITIAL_PAUSE = Duration.ofMillis(500);

    private static final Duration INITIAL_PHASE = Duration.ofMinutes(1);
    private static final Backoff BACKOFF = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10));

    private int backoffs;

    /** Ends the outage: the server was reached, so the next failure begins another outage. */
    public void reset() {
        backoffs = 0;
    }

    /**
     * Returns the pause after a failed attempt.
     *
     * @param outage how long the server has been unreachable
     * @param random uniform in [0, 1)
     */
    public Duration pause(Duration outage, double random) {
        if (outage.compareTo(INITIAL_PHASE) < 0) {
            return INITIAL_PAUSE;
        }
        backoffs++;
        return BACKOFF.pause(backoffs, random);
    }
}
