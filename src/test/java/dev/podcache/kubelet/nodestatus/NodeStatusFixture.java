package dev.podcache.kubelet.nodestatus;

import dev.podcache.testing.RecordedEvents;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;

/** A node called {@value #NAME} with empty metadata and status, two times, and the recorded events. */
final class NodeStatusFixture {

    static final String NAME = "test-kubelet-node";
    static final Instant NOW = Instant.parse("2026-01-01T00:00:01.234Z");
    static final String NOW_TEXT = "2026-01-01T00:00:01Z";
    static final String BEFORE = "2026-01-01T00:00:00Z";

    final RecordedEvents recorded = new RecordedEvents();
    final NodeEvents events = new NodeEvents(recorded, NAME);
    final Node node = new NodeBuilder()
            .withNewMetadata()
            .withName(NAME)
            .endMetadata()
            .withNewStatus()
            .endStatus()
            .build();

    /** Sets the capacity that a ready node needs. */
    NodeStatusFixture withCapacity() {
        for (String resource : new String[] {"cpu", "memory", "pods", "ephemeral-storage"}) {
            node.getStatus().getCapacity().put(resource, new Quantity("100"));
        }
        return this;
    }

    /** Adds a condition that was set a second ago. */
    NodeStatusFixture withCondition(String type, String status) {
        node.getStatus()
                .getConditions()
                .add(new NodeConditionBuilder()
                        .withType(type)
                        .withStatus(status)
                        .withReason("before")
                        .withMessage("before")
                        .withLastHeartbeatTime(BEFORE)
                        .withLastTransitionTime(BEFORE)
                        .build());
        return this;
    }

    /** Returns status, reason, message, transition and heartbeat time of the only condition. */
    String onlyCondition() {
        if (node.getStatus().getConditions().size() != 1) {
            throw new AssertionError("not one condition: " + node.getStatus().getConditions());
        }
        NodeCondition condition = node.getStatus().getConditions().get(0);
        return String.join(
                " | ",
                condition.getStatus(),
                condition.getReason(),
                condition.getMessage(),
                condition.getLastTransitionTime(),
                condition.getLastHeartbeatTime());
    }
}
