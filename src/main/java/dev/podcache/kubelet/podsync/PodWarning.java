package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.events.InvolvedObject;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;

/**
 * A warning event about a pod.
 *
 * @param fieldPath the field path of the container that the event is about; empty if it is about the whole pod
 */
record PodWarning(String fieldPath, String reason, String message) {

    static PodWarning ofVolume(String volume, String cause) {
        return new PodWarning("", "FailedMount", "MountVolume.SetUp failed for volume \"" + volume + "\" : " + cause);
    }

    static PodWarning ofMount(String cause) {
        return new PodWarning("", "FailedMount", "Unable to attach or mount volumes: " + cause);
    }

    static PodWarning ofContainer(String list, String container, String cause) {
        return new PodWarning("spec." + list + "{" + container + "}", "Failed", "Error: " + cause);
    }

    void emit(Pod pod, EventRecorder events) {
        ObjectReference about = fieldPath.isEmpty() ? InvolvedObject.of(pod) : InvolvedObject.of(pod, fieldPath);
        events.event(about, EventRecorder.EventType.WARNING, reason, message);
    }
}
