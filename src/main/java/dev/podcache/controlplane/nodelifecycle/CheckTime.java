package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ClusterCache;
import java.time.Instant;

/**
 * A point in time on two clocks.
 *
 * @param nanos on the clock that stands still while nodes cannot be watched, for measuring silence
 * @param wall for timestamps in the API
 */
record CheckTime(long nanos, Instant wall) {

    static CheckTime now(ClusterCache cache) {
        return new CheckTime(cache.watchedNanos(), cache.loop().timekeeper().wallTime());
    }
}
