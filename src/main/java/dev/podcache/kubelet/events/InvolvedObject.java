package dev.podcache.kubelet.events;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;

/** Creates the references that {@link EventRecorder} takes. */
public final class InvolvedObject {

    private InvolvedObject() {}

    /** Returns a reference to a pod. */
    public static ObjectReference of(Pod pod) {
        return new ObjectReferenceBuilder()
                .withKind("Pod")
                .withApiVersion("v1")
                .withNamespace(pod.getMetadata().getNamespace())
                .withName(pod.getMetadata().getName())
                .withUid(pod.getMetadata().getUid())
                .withResourceVersion(pod.getMetadata().getResourceVersion())
                .build();
    }

    /** Returns a reference to a part of a pod, such as {@code spec.containers{main}}. */
    public static ObjectReference of(Pod pod, String fieldPath) {
        return new ObjectReferenceBuilder(of(pod)).withFieldPath(fieldPath).build();
    }

    /**
     * Returns a reference to a Node. Its UID is the Node's name, as in the kubelet: {@code kubectl describe node} uses
     * that.
     */
    public static ObjectReference ofNode(String name) {
        return new ObjectReferenceBuilder()
                .withApiVersion("v1")
                .withKind("Node")
                .withName(name)
                .withUid(name)
                .build();
    }
}
