package dev.podcache.kubelet.nodestatus;

import dev.podcache.kubelet.events.EventRecorder;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;

/** Records events about one Node. */
final class NodeEvents {

    private final EventRecorder recorder;
    private final String node;

    NodeEvents(EventRecorder recorder, String node) {
        this.recorder = recorder;
        this.node = node;
    }

    /** Records that the Node has changed to {@code status}, such as {@code NodeReady}. */
    void statusChanged(String status) {
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
     * Returns a reference whose UID is the Node's name, as the kubelet does: {@code kubectl describe node} uses that.
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
