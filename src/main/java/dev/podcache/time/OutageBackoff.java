package dev.podcache.time;

import java.time.Duration;

/**
 * How long to pause between attempts to reach a server that is away: half a second in its first minute, then at random
 * up to 1 s, 2 s, 4 s and so on up to 10 s. Not thread-safe.
 */
public final class OutageBackoff {

    private static final Duration OFTEN = Duration.ofMillis(500);
    private static final Duration OFTEN_FOR = Duration.ofMinutes(1);
    private static final Backoff LATER = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(10));

    private int late;

    /** The server was reached: the next failure is the first of another outage. */
    public void reset() {
        late = 0;
    }

    /**
     * Returns the pause after an attempt that failed.
     *
     * @param away for how long the server has been away
     * @param random uniform in [0, 1)
     */
    public Duration pause(Duration away, double random) {
        if (away.compareTo(OFTEN_FOR) < 0) {
            return OFTEN;
        }
        late++;
        return LATER.pause(late, random);
    }
}
