package dev.podcache.kubelet.podstatus;

import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads pods, parts of which may be missing. Pure; what it returns must not be modified, except copies. */
final class PodParts {

    private PodParts() {}

    /** The status that came with the pod, if only an empty one. */
    static PodStatus status(Pod pod) {
        @Nullable PodStatus status = pod.getStatus();
        return status == null ? new PodStatus() : status;
    }

    /** A copy that shares nothing that changes. */
    static PodStatus copy(PodStatus status) {
        return new PodStatusBuilder(status).build();
    }

    /** The elements of a list that may be missing. */
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

    /** The statuses of init and of regular containers, in this order. */
    static ImmutableList<ContainerStatus> containers(PodStatus status) {
        return ImmutableList.<ContainerStatus>builder()
                .addAll(present(status.getInitContainerStatuses()))
                .addAll(present(status.getContainerStatuses()))
                .build();
    }

    /** The state a container is in; one without any is waiting. */
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

    /** Whether the container has ended before, and is to be started again. */
    static boolean hasEndedBefore(ContainerStatus status) {
        @Nullable ContainerState last = status.getLastState();
        return last != null && last.getTerminated() != null;
    }

    /** Whether {@code state} is that of a container that ended well. */
    static boolean endedWell(@Nullable ContainerState state) {
        if (state == null || state.getTerminated() == null) {
            return false;
        }
        @Nullable Integer exitCode = state.getTerminated().getExitCode();
        return exitCode == null || exitCode == 0;
    }

    /** Whether an init container is a sidecar: one that runs for as long as the pod does. */
    static boolean isSidecar(Container initContainer) {
        return "Always".equals(initContainer.getRestartPolicy());
    }
}
