package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodResources;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.List;

/** Computes the final status of a pod of which no container runs any more. */
final class Termination {

    // Follows TerminatePod, hasPodInitialized and initializedContainers of
    // pkg/kubelet/status/status_manager.go of Kubernetes.

    /** The exit code of a container that was killed: 128 + SIGKILL. */
    private static final int KILLED = 137;

    private Termination() {}

    /**
     * Modifies {@code status}: terminates all containers that may have been started, and sets the phase to Failed
     * unless it is already Succeeded or Failed.
     */
    static void end(PodSpec spec, PodStatus status) {
        if (wasInitialised(spec, status)) {
            present(status.getContainerStatuses()).forEach(Termination::terminate);
        }
        List<ContainerStatus> init = present(status.getInitContainerStatuses());
        init.subList(0, possiblyStarted(init)).forEach(Termination::terminate);
        if (!PodEnd.isTerminal(status.getPhase())) {
            status.setPhase(PodPhase.FAILED);
        }
    }

    private static void terminate(ContainerStatus container) {
        if (!PodParts.isTerminated(container)) {
            container.setState(new ContainerStateBuilder()
                    .withNewTerminated()
                    .withReason("ContainerStatusUnknown")
                    .withMessage("The container could not be located when the pod was terminated")
                    .withExitCode(KILLED)
                    .endTerminated()
                    .build());
        }
    }

    private static boolean wasInitialised(PodSpec spec, PodStatus status) {
        List<Container> init = present(spec.getInitContainers());
        if (init.isEmpty()) {
            return true;
        }
        for (ContainerStatus container : present(status.getContainerStatuses())) {
            if (!PodParts.isWaiting(container) || PodParts.hasTerminatedBefore(container)) {
                return true;
            }
        }
        Container last = init.get(init.size() - 1);
        ContainerStatus lastStatus = PodParts.named(present(status.getInitContainerStatuses()), last.getName());
        if (lastStatus == null) {
            return false;
        }
        return PodResources.isSidecar(last)
                ? PodParts.isRunning(lastStatus) && Boolean.TRUE.equals(lastStatus.getStarted())
                : PodParts.isSuccess(lastStatus.getState()) || PodParts.isSuccess(lastStatus.getLastState());
    }

    /** Returns how many init containers, counted from the first, may have been started: at least 1 if any exist. */
    private static int possiblyStarted(List<ContainerStatus> init) {
        int possiblyStarted = init.size();
        while (possiblyStarted > 1
                && PodParts.isWaiting(init.get(possiblyStarted - 1))
                && !PodParts.hasTerminatedBefore(init.get(possiblyStarted - 1))) {
            possiblyStarted--;
        }
        return possiblyStarted;
    }
}
