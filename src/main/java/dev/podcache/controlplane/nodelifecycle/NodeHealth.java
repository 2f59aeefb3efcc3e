package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.ReadyStatus;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.time.ZonedDateTime;
import org.jspecify.annotations.Nullable;

/**
 * What the monitor remembers of a node.
 *
 * @param ready the condition Ready of the last heartbeat; null if the node has reported none
 * @param probedAt when the monitor last saw a sign of life, in nanoseconds
 * @param renewTime the newest renewal of the Lease that the monitor has seen; null if it has seen none
 */
record NodeHealth(
        @Nullable NodeCondition ready,
        long probedAt,
        @Nullable ZonedDateTime renewTime) {

    /** Returns this health after the monitor has written {@code written}. */
    NodeHealth written(ObservedNode written) {
        return new NodeHealth(written.ready(), probedAt, renewTime);
    }

    /** Returns this health with a sign of life at {@code nanos}. */
    NodeHealth probed(long nanos) {
        return new NodeHealth(ready, nanos, renewTime);
    }

    ReadyStatus readyStatus() {
        return ReadyStatus.of(ready);
    }
}
