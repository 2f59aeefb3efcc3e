package dev.podcache.kubelet.podsync;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the statuses of containers, which may lack parts. Pure functions. */
final class States {

    private States() {}

    static @Nullable ContainerStatus named(@Nullable List<ContainerStatus> statuses, String name) {
        if (statuses == null) {
            return null;
        }
        return statuses.stream()
                .filter(status -> name.equals(status.getName()))
                .findFirst()
                .orElse(null);
    }

    static boolean isRunning(ContainerStatus status) {
        return status.getState() != null && status.getState().getRunning() != null;
    }

    static boolean isTerminated(ContainerStatus status) {
        return termination(status) != null;
    }

    static boolean isWaiting(ContainerStatus status) {
        return !isRunning(status) && !isTerminated(status);
    }

    static @Nullable ContainerStateTerminated termination(ContainerStatus status) {
        return status.getState() == null ? null : status.getState().getTerminated();
    }

    static @Nullable ContainerStateTerminated lastTermination(ContainerStatus status) {
        @Nullable ContainerState last = status.getLastState();
        return last == null ? null : last.getTerminated();
    }

    /** Returns whether a container has terminated with exit code 0; a missing exit code counts as 0. */
    static boolean isSuccess(ContainerStatus status) {
        ContainerStateTerminated end = termination(status);
        return end != null && (end.getExitCode() == null || end.getExitCode() == 0);
    }

    /** Returns the container ID, or "" if there is none. */
    static String id(ContainerStatus status) {
        return status.getContainerID() == null ? "" : status.getContainerID();
    }

    /** Returns whether an init container is a sidecar, which runs as long as the pod. */
    static boolean isSidecar(Container initContainer) {
        return "Always".equals(initContainer.getRestartPolicy());
    }
}
