package dev.podcache.pod;

import io.fabric8.kubernetes.api.model.Pod;
import org.jspecify.annotations.Nullable;

/**
 * Finds the pods that a node must not end to save itself. Pure. Follows {@code IsCriticalPod} and {@code
 * IsNodeCriticalPod} of {@code pkg/kubelet/types/pod_update.go}.
 */
public final class CriticalPods {

    private static final int SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;
    private static final String NODE_CRITICAL = "system-node-critical";

    private CriticalPods() {}

    /** Returns whether a pod is static, is the mirror of a static pod, or has at least the lowest system priority. */
    public static boolean isCritical(Pod pod) {
        return PodOrigin.of(pod) != PodOrigin.API_SERVER || priority(pod) >= SYSTEM_CRITICAL_PRIORITY;
    }

    /** Returns whether a critical pod is one that its node cannot do without. */
    public static boolean isNodeCritical(Pod pod) {
        return isCritical(pod) && NODE_CRITICAL.equals(pod.getSpec().getPriorityClassName());
    }

    /** Returns the priority of a pod; 0 if none is set. */
    public static int priority(Pod pod) {
        @Nullable Integer priority = pod.getSpec().getPriority();
        return priority == null ? 0 : priority;
    }
}
