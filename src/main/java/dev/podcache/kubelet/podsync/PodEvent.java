package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.events.EventRecorder.EventType;
import dev.podcache.kubelet.events.InvolvedObject;
import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.pod.EphemeralContainers;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;

/**
 * An event about a pod, with the kubelet's reasons and messages.
 *
 * @param fieldPath the field path of the container that the event is about; empty if it is about the whole pod
 */
record PodEvent(EventType type, String fieldPath, String reason, String message) {

    static PodEvent providerFailed(String action, String cause) {
        return warning("Failed" + (action.equals("create") ? "CreatePod" : "UpdatePod"), "Error: " + cause);
    }

    static PodEvent volumeFailed(String volume, String cause) {
        return warning("FailedMount", "MountVolume.SetUp failed for volume \"" + volume + "\" : " + cause);
    }

    static PodEvent mountFailed(String cause) {
        return warning("FailedMount", "Unable to attach or mount volumes: " + cause);
    }

    static PodEvent startFailed(Pod pod, String container, String cause) {
        return new PodEvent(EventType.WARNING, path(pod, container), "Failed", "Error: " + cause);
    }

    static PodEvent stopFailed(Pod pod, String container, String cause) {
        return new PodEvent(EventType.WARNING, path(pod, container), "FailedKillPod", "error killing pod: " + cause);
    }

    /** A stop of the whole pod that failed. */
    static PodEvent killFailed(String cause) {
        return warning("FailedKillPod", "error killing pod: " + cause);
    }

    static PodEvent backOff(Pod pod, String container) {
        return new PodEvent(
                EventType.WARNING,
                path(pod, container),
                "BackOff",
                "Back-off restarting failed container " + container + " in pod "
                        + pod.getMetadata().getName() + "_" + pod.getMetadata().getNamespace() + "("
                        + pod.getMetadata().getUid() + ")");
    }

    static PodEvent killing(Pod pod, String container, String message) {
        return new PodEvent(EventType.NORMAL, path(pod, container), "Killing", message);
    }

    static PodEvent pulled(Pod pod, String container, String message) {
        return of(EventType.NORMAL, pod, container, "Pulled", message);
    }

    static PodEvent created(Pod pod, String container) {
        return of(EventType.NORMAL, pod, container, "Created", "Container created");
    }

    static PodEvent started(Pod pod, String container) {
        return of(EventType.NORMAL, pod, container, "Started", "Container started");
    }

    static PodEvent warning(Pod pod, String container, String reason, String message) {
        return of(EventType.WARNING, pod, container, reason, message);
    }

    /** An event about a container. */
    static PodEvent of(EventType type, Pod pod, String container, String reason, String message) {
        return new PodEvent(type, path(pod, container), reason, message);
    }

    /** The event does not show what the hook answered, which may be secret. */
    static PodEvent postStartFailed(Pod pod, String container) {
        return new PodEvent(EventType.WARNING, path(pod, container), "FailedPostStartHook", "PostStartHook failed");
    }

    /** The event does not show what the hook answered, which may be secret. */
    static PodEvent preStopFailed(Pod pod, String container) {
        return new PodEvent(EventType.WARNING, path(pod, container), "FailedPreStopHook", "PreStopHook failed");
    }

    static PodEvent deadlineExceeded() {
        return new PodEvent(EventType.NORMAL, "", "DeadlineExceeded", SyncResult.DEADLINE_MESSAGE);
    }

    static PodEvent rejected(PodRejection rejection) {
        return warning(rejection.reason(), rejection.message());
    }

    static PodEvent resizeInfeasible(String why) {
        return warning("ResizeInfeasible", "Pod resize Infeasible: " + why);
    }

    static PodEvent resizeFailed(String why) {
        return warning("ResizeError", "Pod resize Error: " + why);
    }

    /** A runtime that could not tell the state of the pod. */
    static PodEvent statusFailed(String cause) {
        return warning("FailedSync", "error determining status: " + cause);
    }

    /** A call of the runtime that does not return. */
    static PodEvent hanging(String call) {
        return warning("RuntimeNotResponding", call + "; waiting");
    }

    private static PodEvent warning(String reason, String message) {
        return new PodEvent(EventType.WARNING, "", reason, message);
    }

    private static String path(Pod pod, String container) {
        boolean init = pod.getSpec().getInitContainers().stream().anyMatch(each -> container.equals(each.getName()));
        String other = EphemeralContainers.isOne(pod, container) ? "ephemeralContainers" : "containers";
        return "spec." + (init ? "initContainers" : other) + "{" + container + "}";
    }

    void emit(Pod pod, EventRecorder events) {
        ObjectReference about = fieldPath.isEmpty() ? InvolvedObject.of(pod) : InvolvedObject.of(pod, fieldPath);
        events.event(about, type, reason, message);
    }
}
