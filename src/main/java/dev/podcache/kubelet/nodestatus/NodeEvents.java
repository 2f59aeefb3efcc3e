package dev.podcache.kubelet.nodestatus;

import dev.podcache.kubelet.events.EventRecorder;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;

/** The events of one node, about itself. */
final class NodeEvents {

    private final EventRecorder recorder;
    private final String node;

    NodeEvents(EventRecorder recorder, String node) {
        this.recorder = recorder;
        this.node = node;
    }

    /** That {@code status} holds from now on, such as {@code NodeReady}. */
    void statusIsNow(String status) {
        recorder.event(about(), EventRecorder.EventType.NORMAL, status, "Node " + node + " status is now: " + status);
    }

    void rebooted(String bootId) {
        recorder.event(
                about(),
                EventRecorder.EventType.WARNING,
                "NodeRebooted",
                "Node " + node + " has been rebooted, boot id: " + bootId);
    }

    /**
     * The kubelet gives the name as the UID in its events, and {@code kubectl describe node} looks for them under it.
     */
    private ObjectReference about() {
        return new ObjectReferenceBuilder()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(node)
                .withUid(node)
                .build();
    }
}
