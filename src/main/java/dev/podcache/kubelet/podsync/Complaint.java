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
record Complaint(String fieldPath, String reason, String message) {

    static Complaint ofVolume(String volume, String why) {
        return new Complaint("", "FailedMount", "MountVolume.SetUp failed for volume \"" + volume + "\" : " + why);
    }

    static Complaint ofMount(String why) {
        return new Complaint("", "FailedMount", "Unable to attach or mount volumes: " + why);
    }

    static Complaint ofContainer(String list, String container, String why) {
        return new Complaint("spec." + list + "{" + container + "}", "Failed", "Error: " + why);
    }

    void tell(Pod pod, EventRecorder events) {
        ObjectReference about = fieldPath.isEmpty() ? InvolvedObject.of(pod) : InvolvedObject.of(pod, fieldPath);
        events.event(about, EventRecorder.Type.WARNING, reason, message);
    }
}
