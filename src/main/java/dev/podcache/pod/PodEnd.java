package dev.podcache.pod;

import io.fabric8.kubernetes.api.model.Pod;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether a pod has ended or is to end. Pure and thread-safe, provided that the pod is not modified
 * concurrently. The pod must have metadata; its status may be null.
 */
public final class PodEnd {

    private PodEnd() {}

    /** Returns whether the phase is final. No pod leaves such a phase, deleted or not. */
    public static boolean isTerminal(@Nullable String phase) {
        return "Succeeded".equals(phase) || "Failed".equals(phase);
    }

    /** Returns whether the status shows a final phase: the pod needs no objects any more. */
    public static boolean isTerminal(Pod pod) {
        return pod.getStatus() != null && isTerminal(pod.getStatus().getPhase());
    }

    /** Returns whether the pod was deleted. It may still run for its grace period, and then needs its objects. */
    public static boolean isDeleted(Pod pod) {
        return pod.getMetadata().getDeletionTimestamp() != null;
    }

    /** Returns whether no container of the pod is to run any more: it has ended or was deleted. */
    public static boolean isDue(Pod pod) {
        return isDeleted(pod) || isTerminal(pod);
    }
}
