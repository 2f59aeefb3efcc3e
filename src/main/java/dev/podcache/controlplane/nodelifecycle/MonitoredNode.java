package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.ReadyStatus;
import io.fabric8.kubernetes.api.model.NodeCondition;
import org.jspecify.annotations.Nullable;

/**
 * A node of the monitor's passes: how it was last seen, and what is remembered of it. One object holds all of it, because
 * a pass over many nodes takes as long as their data takes to reach the processor. Used by tasks of the cache's loop only.
 */
final class MonitoredNode {

    /** The Node in the cache. */
    ObservedNode observed;

    /** When the node has renewed its Lease, as last seen; {@link ClusterCache#NEVER} if it has none. */
    long renewTime;

    // the parts of the health: to keep a record that is new after each renewal would keep the garbage collector busy
    private boolean checked;
    private @Nullable NodeCondition ready;
    private long probedAt;
    private long seenRenewTime;

    /** Whether some pods could not be marked as not ready. */
    boolean hasPodsToMark;

    MonitoredNode(ObservedNode observed, long renewTime) {
        this.observed = observed;
        this.renewTime = renewTime;
    }

    String name() {
        return observed.name();
    }

    /** Returns whether the node has reported, and was not Ready when it was last decided about. */
    boolean isKnownAsNotReady() {
        return checked && ready != null && ReadyStatus.of(ready) != ReadyStatus.TRUE;
    }

    /** Returns what the last decision returned; null before the first one. */
    @Nullable
    NodeHealth health() {
        return checked ? new NodeHealth(ready, probedAt, seenRenewTime) : null;
    }

    /** Sets what {@link #health} returns. */
    @SuppressWarnings("ReferenceEquality") // to compare the conditions would take longer than to store this one
    void remember(NodeHealth health) {
        checked = true;
        if (ready != health.ready()) {
            ready = health.ready();
        }
        probedAt = health.probedAt();
        seenRenewTime = health.renewTime();
    }
}
