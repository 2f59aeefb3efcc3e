package dev.podcache.pod;

import io.fabric8.kubernetes.api.model.Pod;
import org.jspecify.annotations.Nullable;

/**
 * Whether a pod has come to its end, or is to. Static, pure and thread-safe as long as nobody changes the pod meanwhile;
 * the pod has metadata, its status may be null.
 */
public final class PodEnd {

    private PodEnd() {}

    /** Whether a pod in this phase has run to its end. No pod leaves such a phase, deleted or not. */
    public static boolean isTerminal(@Nullable String phase) {
        return "Succeeded".equals(phase) || "Failed".equals(phase);
    }

    /** Whether the pod is shown as having run to its end: then it needs nothing any more. */
    public static boolean isTerminal(Pod pod) {
        return pod.getStatus() != null && isTerminal(pod.getStatus().getPhase());
    }

    /** Whether somebody deleted the pod. It may still run, for its grace period, and then needs what it needed. */
    public static boolean isDeleted(Pod pod) {
        return pod.getMetadata().getDeletionTimestamp() != null;
    }

    /** Whether nothing of the pod is to run any more: it has run to its end, or somebody deleted it. */
    public static boolean isDue(Pod pod) {
        return isDeleted(pod) || isTerminal(pod);
    }
}
