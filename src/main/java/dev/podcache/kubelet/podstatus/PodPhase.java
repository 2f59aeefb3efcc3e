package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Computes the phase of a pod from the statuses of its containers. */
final class PodPhase {

    // Follows getPhase of pkg/kubelet/kubelet_pods.go of Kubernetes.

    static final String PENDING = "Pending";
    static final String RUNNING = "Running";
    static final String SUCCEEDED = "Succeeded";
    static final String FAILED = "Failed";

    private final PodSpec spec;
    private final List<ContainerStatus> statuses;

    // counts of init containers
    private int pendingInit;
    private int failedInit;
    private int sidecarsStarting;

    // counts of sidecars and regular containers
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
     * Returns the phase of a pod.
     *
     * @param statuses the statuses of init and regular containers
     * @param over whether no container will be started again, regardless of the restart policy
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

    /**
     * Returns whether a regular container runs or ran. If so, the pod counts as initialised, even while a sidecar
     * restarts.
     */
    static boolean hasStarted(PodSpec spec, List<ContainerStatus> statuses) {
        return present(spec.getContainers()).stream()
                .map(container -> PodParts.named(statuses, container.getName()))
                .anyMatch(status -> status != null && !PodParts.isWaiting(status));
    }

    private void countInit(@Nullable ContainerStatus status) {
        if (status == null || PodParts.isRunning(status)) {
            pendingInit++;
        } else if (PodParts.isTerminated(status)) {
            failedInit += PodParts.isSuccess(status.getState()) ? 0 : 1;
        } else if (PodParts.hasTerminatedBefore(status)) {
            failedInit += PodParts.isSuccess(status.getLastState()) ? 0 : 1;
        } else {
            pendingInit++;
        }
    }

    private void countSidecar(@Nullable ContainerStatus status) {
        if (status == null) {
            unknown++;
        } else if (PodParts.isRunning(status)) {
            sidecarsStarting += Boolean.TRUE.equals(status.getStarted()) ? 0 : 1;
            running++;
        } else if (PodParts.isWaiting(status) && !PodParts.hasTerminatedBefore(status)) {
            // sidecars that have terminated, now or before, do not count
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
            succeeded += PodParts.isSuccess(status.getState()) ? 1 : 0;
        } else if (PodParts.hasTerminatedBefore(status)) {
            stopped++;
        } else {
            waiting++;
        }
    }

    private String decide(boolean over) {
        boolean never = "Never".equals(spec.getRestartPolicy());
        if (failedInit > 0 && never) {
            return FAILED;
        }
        boolean notInitialised = pendingInit > 0 || (sidecarsStarting > 0 && !hasStarted(spec, statuses));
        if (notInitialised || waiting > 0 || unknown > 0) {
            return PENDING;
        }
        if (running > 0) {
            return RUNNING;
        }
        return stopped > 0 ? phaseAfterAllStopped(over, never) : PENDING;
    }

    private String phaseAfterAllStopped(boolean over, boolean never) {
        // Always is the API server's default
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
