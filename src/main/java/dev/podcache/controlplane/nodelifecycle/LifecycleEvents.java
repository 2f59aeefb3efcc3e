package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.ObservedPod;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.events.EventRecorder.EventType;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;

/** Records the events of this package, with upstream's reasons and messages. */
final class LifecycleEvents {

    private static final String EVICTION = "TaintManagerEviction";

    private final EventRecorder recorder;

    LifecycleEvents(EventRecorder recorder) {
        this.recorder = recorder;
    }

    void registered(ObservedNode node) {
        about(node, "RegisteredNode", "Registered Node " + node.name() + " in Controller");
    }

    void removed(ObservedNode node) {
        about(node, "RemovingNode", "Removing Node " + node.name() + " from Controller");
    }

    void notReady(ObservedNode node) {
        recorder.event(
                reference(node),
                EventType.NORMAL,
                "NodeNotReady",
                "Node " + node.name() + " status is now: NodeNotReady");
    }

    void notReady(ObservedPod pod) {
        recorder.event(reference(pod), EventType.WARNING, "NodeNotReady", "Node is not ready");
    }

    void evicted(ObservedPod pod) {
        recorder.event(reference(pod), EventType.NORMAL, EVICTION, "Marking for deletion Pod " + pod.key());
    }

    void evictionCancelled(ObservedPod pod) {
        recorder.event(reference(pod), EventType.NORMAL, EVICTION, "Cancelling deletion of Pod " + pod.key());
    }

    private void about(ObservedNode node, String reason, String text) {
        recorder.event(reference(node), EventType.NORMAL, reason, "Node " + node.name() + " event: " + text);
    }

    private static ObjectReference reference(ObservedNode node) {
        return new ObjectReferenceBuilder()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(node.name())
                .withUid(node.uid())
                .build();
    }

    private static ObjectReference reference(ObservedPod pod) {
        return new ObjectReferenceBuilder()
                .withApiVersion("v1")
                .withKind("Pod")
                .withNamespace(pod.key().namespace())
                .withName(pod.key().name())
                .withUid(pod.uid())
                .build();
    }
}
