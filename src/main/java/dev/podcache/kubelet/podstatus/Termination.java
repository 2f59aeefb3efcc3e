package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import dev.podcache.pod.PodEnd;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.List;

/** The last status of a pod: nothing of it runs any more. */
final class Termination {

    // After TerminatePod, hasPodInitialized and initializedContainers of
    // pkg/kubelet/status/status_manager.go of Kubernetes.

    private static final int KILLED = 137;

    private Termination() {}

    /** Ends {@code status} in place: containers that could have run have ended, the phase is Succeeded or Failed. */
    static void end(PodSpec spec, PodStatus status) {
        if (wasInitialised(spec, status)) {
            present(status.getContainerStatuses()).forEach(Termination::end);
        }
        List<ContainerStatus> init = present(status.getInitContainerStatuses());
        init.subList(0, attempted(init)).forEach(Termination::end);
        if (!PodEnd.isTerminal(status.getPhase())) {
            status.setPhase(PodPhase.FAILED);
        }
    }

    private static void end(ContainerStatus container) {
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
            if (!PodParts.isWaiting(container) || PodParts.hasEndedBefore(container)) {
                return true;
            }
        }
        Container last = init.get(init.size() - 1);
        ContainerStatus lastStatus = PodParts.named(present(status.getInitContainerStatuses()), last.getName());
        if (lastStatus == null) {
            return false;
        }
        return PodParts.isSidecar(last)
                ? PodParts.isRunning(lastStatus) && Boolean.TRUE.equals(lastStatus.getStarted())
                : PodParts.endedWell(lastStatus.getState()) || PodParts.endedWell(lastStatus.getLastState());
    }

    /** How many of the init containers, from the first, may have been started: at least one, if there are any. */
    private static int attempted(List<ContainerStatus> init) {
        int attempted = init.size();
        while (attempted > 1
                && PodParts.isWaiting(init.get(attempted - 1))
                && !PodParts.hasEndedBefore(init.get(attempted - 1))) {
            attempted--;
        }
        return attempted;
    }
}
