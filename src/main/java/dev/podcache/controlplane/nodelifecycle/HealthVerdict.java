package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ReadyStatus;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.util.List;

/**
 * What the monitor decides about one node.
 *
 * @param health to remember
 * @param observed the status of Ready before the decision; UNKNOWN if the Node has no condition Ready
 * @param current the status of Ready after the decision; ABSENT if the Node still has no condition Ready
 * @param changes the conditions to write; empty if there is nothing to write
 */
record HealthVerdict(NodeHealth health, ReadyStatus observed, ReadyStatus current, List<NodeCondition> changes) {

    /** Returns whether the node was Ready until now. */
    boolean isNewlyNotReady() {
        return observed == ReadyStatus.TRUE && current != ReadyStatus.TRUE;
    }
}
