package dev.podcache.controlplane.planner;

import dev.podcache.controlplane.ttl.TtlLadder;
import java.time.Duration;

/** The TTL that the TTL controller sets in a cluster that grew to its size. */
final class TtlOfCluster {

    /** The ladder has its last row below this; more nodes change nothing. */
    private static final int ENOUGH = 10_000;

    private TtlOfCluster() {}

    static Duration of(int nodes) {
        TtlLadder ladder = TtlLadder.EMPTY;
        for (int i = 0; i < Math.min(nodes, ENOUGH); i++) {
            ladder = ladder.nodeAdded();
        }
        return Duration.ofSeconds(ladder.seconds());
    }
}
