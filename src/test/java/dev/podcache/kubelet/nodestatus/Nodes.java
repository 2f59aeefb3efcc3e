package dev.podcache.kubelet.nodestatus;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** Nodes, and parts of them, for tests. */
final class Nodes {

    static final String NAME = "worker-1";

    private Nodes() {}

    static InitialNode.Builder initial() {
        return InitialNode.builder(NAME, "linux", "amd64");
    }

    /** Returns a Node with only a name and an empty status. */
    static Node empty() {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(NAME)
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .withNewStatus()
                .endStatus()
                .build();
    }

    static Node notReady(Instant since) {
        return new NodeBuilder(empty())
                .editStatus()
                .withConditions(condition("Ready", "False", since, since))
                .endStatus()
                .build();
    }

    static Node withLabels(Map<String, String> labels) {
        return new NodeBuilder(empty())
                .editMetadata()
                .withLabels(labels)
                .endMetadata()
                .build();
    }

    static Node withResources(Map<String, Quantity> capacity, Map<String, Quantity> allocatable) {
        return new NodeBuilder(empty())
                .editStatus()
                .withCapacity(capacity)
                .withAllocatable(allocatable)
                .endStatus()
                .build();
    }

    /** Takes names and quantities alternately. */
    static Map<String, Quantity> quantities(String... namesAndQuantities) {
        Map<String, Quantity> quantities = new LinkedHashMap<>();
        for (int i = 0; i < namesAndQuantities.length; i += 2) {
            quantities.put(namesAndQuantities[i], new Quantity(namesAndQuantities[i + 1]));
        }
        return quantities;
    }

    static NodeCondition condition(String type, String status, Instant heartbeat, Instant transition) {
        return new NodeConditionBuilder()
                .withType(type)
                .withStatus(status)
                .withReason("reason")
                .withMessage("message")
                .withLastHeartbeatTime(heartbeat.toString())
                .withLastTransitionTime(transition.toString())
                .build();
    }
}
