package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.events.InvolvedObject;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;

/**
 * What people are to be told of a pod by an event.
 *
 * @param fieldPath of the container it is about, or empty
 */
record PodWarning(String fieldPath, String reason, String message) {

    static PodWarning ofVolume(String volume, String why) {
        return new PodWarning("", "FailedMount", "MountVolume.SetUp failed for volume \"" + volume + "\" : " + why);
    }

    static PodWarning ofMount(String why) {
        return new PodWarning("", "FailedMount", "Unable to attach or mount volumes: " + why);
    }

    static PodWarning ofContainer(String list, String container, String why) {
        return new PodWarning("spec." + list + "{" + container + "}", "Failed", "Error: " + why);
    }

    void tell(Pod pod, EventRecorder events) {
        ObjectReference about = fieldPath.isEmpty() ? InvolvedObject.of(pod) : InvolvedObject.of(pod, fieldPath);
        events.event(about, EventRecorder.EventType.WARNING, reason, message);
    }
}
