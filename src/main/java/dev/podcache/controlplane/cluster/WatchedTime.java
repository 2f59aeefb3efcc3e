package dev.podcache.controlplane.cluster;

import dev.podcache.time.Timekeeper;
import java.util.HashSet;
import java.util.Set;

/**
 * A clock that stands still while one of its sources is lost. Used by tasks of one loop only.
 *
 * <p>A monitor that measures the silence of nodes on this clock does not blame them for an outage of the API server. A
 * watch that breaks again and again does not keep a dead node alive either: the time between the outages counts.
 */
final class WatchedTime {

    private final Timekeeper timekeeper;
    private final Set<Object> lost = new HashSet<>();
    private long stoodStill;
    private long lostAt;

    WatchedTime(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    long nanos() {
        return (lost.isEmpty() ? timekeeper.nanoTime() : lostAt) - stoodStill;
    }

    void lost(Object source) {
        if (lost.isEmpty()) {
            lostAt = timekeeper.nanoTime();
        }
        lost.add(source);
    }

    void found(Object source) {
        if (lost.remove(source) && lost.isEmpty()) {
            stoodStill += timekeeper.nanoTime() - lostAt;
        }
    }
}
