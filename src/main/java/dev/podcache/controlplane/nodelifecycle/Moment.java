package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ClusterCache;
import java.time.Instant;

/**
 * A point in time on two clocks.
 *
 * @param nanos on the clock that stands still while nodes cannot be watched, for measuring silence
 * @param wall for timestamps in the API
 */
record Moment(long nanos, Instant wall) {

    static Moment now(ClusterCache cache) {
        return new Moment(cache.watchedNanos(), cache.loop().timekeeper().wallTime());
    }
}
