package dev.podcache.kubelet.nodestatus;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.events.InvolvedObject;

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
        recorder.event(
                InvolvedObject.ofNode(node),
                EventRecorder.EventType.NORMAL,
                status,
                "Node " + node + " status is now: " + status);
    }

    void rebooted(String bootId) {
        recorder.event(
                InvolvedObject.ofNode(node),
                EventRecorder.EventType.WARNING,
                "NodeRebooted",
                "Node " + node + " has been rebooted, boot id: " + bootId);
    }
}
