package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where a pod is in its life, told from its containers. */
final class PodPhase {

    // After getPhase of pkg/kubelet/kubelet_pods.go of Kubernetes.

    static final String PENDING = "Pending";
    static final String RUNNING = "Running";
    static final String SUCCEEDED = "Succeeded";
    static final String FAILED = "Failed";

    private final PodSpec spec;
    private final List<ContainerStatus> statuses;

    // init containers
    private int initialising;
    private int failedInitialising;
    private int sidecarsStarting;

    // sidecars and regular containers
    private int unknown;
    private int running;
    private int waiting;
    private int stopped;
    private int succeeded;

    private PodPhase(PodSpec spec, List<ContainerStatus> statuses) {
        this.spec = spec;
        this.statuses = statuses;
    }

    /**
     * The phase of a pod.
     *
     * @param statuses of init and regular containers alike
     * @param over whether no container will be started again, whatever the restart policy
     */
    static String of(PodSpec spec, List<ContainerStatus> statuses, boolean over) {
        PodPhase phase = new PodPhase(spec, statuses);
        for (Container container : present(spec.getInitContainers())) {
            @Nullable ContainerStatus status = PodParts.named(statuses, container.getName());
            if (PodParts.isSidecar(container)) {
                phase.countSidecar(status);
            } else {
                phase.countInit(status);
            }
        }
        for (Container container : present(spec.getContainers())) {
            phase.countRegular(PodParts.named(statuses, container.getName()));
        }
        return phase.decide(over);
    }

    /** Whether a regular container runs or has run: then the pod was initialised, whatever its sidecars do now. */
    static boolean hasStarted(PodSpec spec, List<ContainerStatus> statuses) {
        return present(spec.getContainers()).stream()
                .map(container -> PodParts.named(statuses, container.getName()))
                .anyMatch(status -> status != null && !PodParts.isWaiting(status));
    }

    private void countInit(@Nullable ContainerStatus status) {
        if (status == null || PodParts.isRunning(status)) {
            initialising++;
        } else if (PodParts.isTerminated(status)) {
            failedInitialising += PodParts.endedWell(status.getState()) ? 0 : 1;
        } else if (PodParts.hasEndedBefore(status)) {
            failedInitialising += PodParts.endedWell(status.getLastState()) ? 0 : 1;
        } else {
            initialising++;
        }
    }

    private void countSidecar(@Nullable ContainerStatus status) {
        if (status == null) {
            unknown++;
        } else if (PodParts.isRunning(status)) {
            sidecarsStarting += Boolean.TRUE.equals(status.getStarted()) ? 0 : 1;
            running++;
        } else if (PodParts.isWaiting(status) && !PodParts.hasEndedBefore(status)) {
            // a sidecar that has ended, now or before, does not count
            waiting++;
        }
    }

    private void countRegular(@Nullable ContainerStatus status) {
        if (status == null) {
            unknown++;
        } else if (PodParts.isRunning(status)) {
            running++;
        } else if (PodParts.isTerminated(status)) {
            stopped++;
            succeeded += PodParts.endedWell(status.getState()) ? 1 : 0;
        } else if (PodParts.hasEndedBefore(status)) {
            stopped++;
        } else {
            waiting++;
        }
    }

    private String decide(boolean over) {
        boolean never = "Never".equals(spec.getRestartPolicy());
        if (failedInitialising > 0 && never) {
            return FAILED;
        }
        boolean notInitialised = initialising > 0 || (sidecarsStarting > 0 && !hasStarted(spec, statuses));
        if (notInitialised || waiting > 0 || unknown > 0) {
            return PENDING;
        }
        if (running > 0) {
            return RUNNING;
        }
        return stopped > 0 ? ended(over, never) : PENDING;
    }

    private String ended(boolean over, boolean never) {
        // the API server writes Always where a manifest says nothing
        boolean always = !never && !"OnFailure".equals(spec.getRestartPolicy());
        if (always && !over) {
            return RUNNING;
        }
        if (stopped == succeeded) {
            return SUCCEEDED;
        }
        return over || never ? FAILED : RUNNING;
    }
}
