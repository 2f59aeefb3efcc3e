package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import org.jspecify.annotations.Nullable;

/**
 * What a status takes over from the one before it: when the pod started, and since when its
 * conditions are what they are.
 */
final class StatusContinuity {

    // After updateStatusInternal and updateLastTransitionTime of pkg/kubelet/status/status_manager.go of Kubernetes.

    private StatusContinuity() {}

    /** Changes {@code status}, which follows {@code before}, in place. */
    static void take(Pod pod, PodStatus before, PodStatus status, String now) {
        for (String type : PodConditions.TIMED) {
            @Nullable PodCondition condition = PodParts.condition(status, type);
            if (condition != null) {
                condition.setLastTransitionTime(transition(PodParts.condition(before, type), condition, now));
            }
        }
        if (!isEmpty(before.getStartTime())) {
            status.setStartTime(before.getStartTime());
        } else if (isEmpty(status.getStartTime())) {
            status.setStartTime(now);
        }
        status.setObservedGeneration(later(
                before.getObservedGeneration(),
                later(status.getObservedGeneration(), pod.getMetadata().getGeneration())));
    }

    /** When the condition came to have its status: when the one before did, if that is the same, else now. */
    static String transition(@Nullable PodCondition before, PodCondition condition, String now) {
        if (before == null
                || isEmpty(before.getLastTransitionTime())
                || !condition.getStatus().equals(before.getStatus())) {
            return now;
        }
        return before.getLastTransitionTime();
    }

    private static @Nullable Long later(@Nullable Long a, @Nullable Long b) {
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        return Math.max(a, b);
    }

    private static boolean isEmpty(@Nullable String time) {
        return time == null || time.isEmpty();
    }
}
