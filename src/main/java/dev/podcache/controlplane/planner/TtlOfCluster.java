package dev.podcache.controlplane.planner;

import java.time.Duration;

/** The TTL that the TTL controller sets in a cluster that grew to its size. */
final class TtlOfCluster {

    private TtlOfCluster() {}

    static Duration of(int nodes) {
        int seconds = nodes <= 100 ? 0 : nodes <= 500 ? 15 : nodes <= 1_000 ? 30 : nodes <= 2_000 ? 60 : 300;
        return Duration.ofSeconds(seconds);
    }
}
