package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ReadyStatus;

/** Counts the nodes of one zone in one pass. Not thread-safe. */
final class ZoneCount {

    private int ready;
    private int notReady;

    void add(ReadyStatus status) {
        if (status == ReadyStatus.TRUE) {
            ready++;
        } else {
            notReady++;
        }
    }

    int size() {
        return ready + notReady;
    }

    ZoneState state(double threshold) {
        return ZoneState.of(ready, notReady, threshold);
    }
}
