package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.ReadyStatus;
import java.time.ZonedDateTime;
import org.jspecify.annotations.Nullable;

/**
 * A node of the monitor's passes: how it was last seen, and what is remembered of it. One object holds all of it, because
 * a pass over many nodes takes as long as their data takes to reach the processor. Used by tasks of the cache's loop only.
 */
final class MonitoredNode {

    /** The Node in the cache. */
    ObservedNode observed;

    /** When the node has renewed its Lease, as last seen; null if it has none. */
    @Nullable
    ZonedDateTime renewTime;

    /** What the last decision returned; null before the first one. */
    @Nullable
    NodeHealth health;

    /** Whether some pods could not be marked as not ready. */
    boolean hasPodsToMark;

    MonitoredNode(ObservedNode observed, @Nullable ZonedDateTime renewTime) {
        this.observed = observed;
        this.renewTime = renewTime;
    }

    String name() {
        return observed.name();
    }

    /** Returns whether the node has reported, and was not Ready when it was last decided about. */
    boolean isKnownAsNotReady() {
        return health != null && health.ready() != null && health.readyStatus() != ReadyStatus.TRUE;
    }
}
