package dev.podcache.kubelet.nodestatus;

import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;

/**
 * Sets nothing: tells when the node was cordoned or uncordoned. A node that is cordoned at the
 * start counts as a change.
 */
final class SchedulableEvent implements NodeStatusSetter {

    private final NodeEvents events;
    private boolean unschedulable;

    SchedulableEvent(NodeEvents events) {
        this.events = events;
    }

    @Override
    public void set(Node node, Instant now) {
        boolean current =
                node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable());
        if (current != unschedulable) {
            unschedulable = current;
            events.statusIsNow(current ? "NodeNotSchedulable" : "NodeSchedulable");
        }
    }
}
