package dev.podcache.kubelet.podstatus;

import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Carries over to a new status what the previous one knows: the start time and the conditions' transition times. */
final class StatusContinuity {

    // Follows updateStatusInternal and updateLastTransitionTime of pkg/kubelet/status/status_manager.go of Kubernetes.

    private StatusContinuity() {}

    /** Modifies {@code status}, the successor of {@code before}. */
    static void carryOver(Pod pod, PodStatus before, PodStatus status, String now) {
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
        status.setObservedGeneration(laterOf(
                before.getObservedGeneration(),
                laterOf(status.getObservedGeneration(), pod.getMetadata().getGeneration())));
    }

    /**
     * Returns the node's status of a static pod with what an agent before this one reported of it: the start time, the
     * transition times of conditions whose status is unchanged, restart counts, and the last states of the same
     * instances. An agent sets the first status of a static pod before it knows the mirror pod.
     */
    static PodStatus withHistory(PodStatus mirror, PodStatus ours) {
        PodStatus status = PodParts.copy(ours);
        Optional<Instant> started = ApiTime.parse(mirror.getStartTime());
        Optional<Instant> startedAgain = ApiTime.parse(status.getStartTime());
        if (started.isPresent() && startedAgain.isPresent() && started.get().isBefore(startedAgain.get())) {
            status.setStartTime(mirror.getStartTime());
        }
        for (PodCondition condition : PodParts.present(status.getConditions())) {
            condition.setLastTransitionTime(transition(
                    PodParts.condition(mirror, condition.getType()), condition, condition.getLastTransitionTime()));
        }
        for (ContainerStatus container : PodParts.containers(status)) {
            ContainerStatus before = PodParts.named(PodParts.containers(mirror), container.getName());
            if (before != null) {
                addHistory(before, container);
            }
        }
        return status;
    }

    private static void addHistory(ContainerStatus before, ContainerStatus container) {
        container.setRestartCount(Math.max(restarts(before), restarts(container)));
        boolean isSame =
                before.getContainerID() != null && before.getContainerID().equals(container.getContainerID());
        if (isSame && !PodParts.hasTerminatedBefore(container) && !PodParts.isWaiting(container)) {
            container.setLastState(before.getLastState());
        }
    }

    private static int restarts(ContainerStatus status) {
        return status.getRestartCount() == null ? 0 : status.getRestartCount();
    }

    /** Modifies {@code status}, the successor of {@code before}: all calls of the runtime have returned. */
    static void runtimeAnswered(PodStatus before, PodStatus status) {
        if (PodParts.condition(before, RuntimeResponding.TYPE) != null) {
            List<PodCondition> conditions = new ArrayList<>(PodParts.present(status.getConditions()));
            PodConditions.put(
                    conditions, PodConditions.condition(RuntimeResponding.TYPE, PodConditions.TRUE, null, null));
            status.setConditions(conditions);
        }
    }

    /** Returns the transition time of a condition: the previous one if the status is equal, else {@code now}. */
    static String transition(@Nullable PodCondition before, PodCondition condition, String now) {
        if (before == null
                || isEmpty(before.getLastTransitionTime())
                || !condition.getStatus().equals(before.getStatus())) {
            return now;
        }
        return before.getLastTransitionTime();
    }

    private static @Nullable Long laterOf(@Nullable Long a, @Nullable Long b) {
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        return Math.max(a, b);
    }

    private static boolean isEmpty(@Nullable String time) {
        return time == null || time.isEmpty();
    }
}
