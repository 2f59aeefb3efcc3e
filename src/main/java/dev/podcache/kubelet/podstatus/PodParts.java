package dev.podcache.kubelet.podstatus;

import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads pods that may lack parts. Pure functions; callers must not modify results other than copies. */
final class PodParts {

    private PodParts() {}

    /** Returns the pod's status, or an empty status if it has none. */
    static PodStatus status(Pod pod) {
        @Nullable PodStatus status = pod.getStatus();
        return status == null ? new PodStatus() : status;
    }

    /** Returns a deep copy. */
    static PodStatus copy(PodStatus status) {
        return new PodStatusBuilder(status).build();
    }

    /** Returns {@code list}, or an empty list if it is null. */
    static <T> List<T> present(@Nullable List<T> list) {
        return list == null ? List.of() : list;
    }

    static @Nullable PodCondition condition(PodStatus status, String type) {
        return present(status.getConditions()).stream()
                .filter(condition -> type.equals(condition.getType()))
                .findFirst()
                .orElse(null);
    }

    static @Nullable ContainerStatus named(List<ContainerStatus> statuses, String name) {
        return statuses.stream()
                .filter(status -> name.equals(status.getName()))
                .findFirst()
                .orElse(null);
    }

    /** Returns the statuses of init containers, followed by those of regular containers. */
    static List<ContainerStatus> containers(PodStatus status) {
        return ImmutableList.<ContainerStatus>builder()
                .addAll(present(status.getInitContainerStatuses()))
                .addAll(present(status.getContainerStatuses()))
                .build();
    }

    /** Returns the state of a container; an empty state, which means waiting, if it has none. */
    static ContainerState state(ContainerStatus status) {
        @Nullable ContainerState state = status.getState();
        return state == null ? new ContainerState() : state;
    }

    static boolean isRunning(ContainerStatus status) {
        return state(status).getRunning() != null;
    }

    static boolean isTerminated(ContainerStatus status) {
        return state(status).getTerminated() != null;
    }

    static boolean isWaiting(ContainerStatus status) {
        return !isRunning(status) && !isTerminated(status);
    }

    /** Returns whether the container has a previous termination, before its current state. */
    static boolean hasTerminatedBefore(ContainerStatus status) {
        @Nullable ContainerState last = status.getLastState();
        return last != null && last.getTerminated() != null;
    }

    /** Returns whether {@code state} is a termination with exit code 0. */
    static boolean isSuccess(@Nullable ContainerState state) {
        return state != null && state.getTerminated() != null && exitCode(state) == 0;
    }

    /** Returns the exit code of a state that is a termination; a missing one counts as 0. */
    static int exitCode(ContainerState state) {
        @Nullable Integer exitCode = state.getTerminated().getExitCode();
        return exitCode == null ? 0 : exitCode;
    }
}
