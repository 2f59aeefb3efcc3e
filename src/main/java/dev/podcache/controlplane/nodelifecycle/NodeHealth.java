package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ObservedNode;
import io.fabric8.kubernetes.api.model.NodeCondition;
import org.jspecify.annotations.Nullable;

/**
 * What the monitor remembers of a node.
 *
 * @param ready the condition Ready of the last heartbeat; null if the node has reported none
 * @param probedAt when the monitor last saw a sign of life, in nanoseconds
 * @param renewTime the newest renewal of the Lease that the monitor has seen, in microseconds since 1970;
 *     {@link ClusterCache#NEVER} if it has seen none
 */
record NodeHealth(@Nullable NodeCondition ready, long probedAt, long renewTime) {

    /** Returns this health after the monitor has written {@code written}. */
    NodeHealth written(ObservedNode written) {
        return new NodeHealth(written.ready(), probedAt, renewTime);
    }

    /** Returns this health with a sign of life at {@code nanos}. */
    NodeHealth probed(long nanos) {
        return new NodeHealth(ready, nanos, renewTime);
    }
}
