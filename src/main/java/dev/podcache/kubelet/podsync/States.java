package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.PodState;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
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

    /** Returns whether a container has terminated with exit code 0. */
    static boolean isSuccess(ContainerStatus status) {
        return isTerminated(status) && exitCode(status) == 0;
    }

    /** Returns the exit code of a container that has terminated; a missing one counts as 0. */
    static int exitCode(ContainerStatus status) {
        ContainerStateTerminated end = termination(status);
        return end == null || end.getExitCode() == null ? 0 : end.getExitCode();
    }

    /** Returns the container ID, or "" if there is none. */
    static String id(ContainerStatus status) {
        return status.getContainerID() == null ? "" : status.getContainerID();
    }

    /** Returns whether a runtime knows any container of a pod. */
    static boolean hasAny(PodState pod) {
        return !pod.initContainers().isEmpty()
                || !pod.containers().isEmpty()
                || !pod.ephemeralContainers().isEmpty();
    }

    /** Returns why a container waits. */
    static ContainerStateWaiting waiting(String message, String reason) {
        ContainerStateWaiting waiting = new ContainerStateWaiting();
        waiting.setMessage(message);
        waiting.setReason(reason);
        return waiting;
    }
}
