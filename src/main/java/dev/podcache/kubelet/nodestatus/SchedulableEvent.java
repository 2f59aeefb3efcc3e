package dev.podcache.kubelet.nodestatus;

import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;

/** Records an event when the node is cordoned or uncordoned, or is cordoned at the start. Sets nothing. */
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
            events.statusChanged(current ? "NodeNotSchedulable" : "NodeSchedulable");
        }
    }
}
