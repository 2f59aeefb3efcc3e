package dev.podcache.kubelet.nodestatus;

import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Sets the conditions that the owner of the agent supplies, with their times. */
final class FurtherConditions implements NodeStatusSetter {

    private final Supplier<List<NodeCondition>> conditions;

    FurtherConditions(Supplier<List<NodeCondition>> conditions) {
        this.conditions = conditions;
    }

    @Override
    public void set(Node node, Instant now) {
        String time = ApiTime.of(now);
        for (NodeCondition wanted : conditions.get()) {
            @Nullable NodeCondition found = NodeConditions.find(node, wanted.getType());
            NodeCondition condition = found == null ? NodeConditions.append(node, wanted.getType()) : found;
            if (found == null || !wanted.getStatus().equals(condition.getStatus())) {
                condition.setLastTransitionTime(time);
            }
            condition.setLastHeartbeatTime(time);
            condition.setStatus(wanted.getStatus());
            condition.setReason(wanted.getReason());
            condition.setMessage(wanted.getMessage());
        }
    }
}
