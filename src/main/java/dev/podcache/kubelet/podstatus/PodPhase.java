package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.PodParts.present;

import dev.podcache.pod.PodResources;
import dev.podcache.pod.RestartRules;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Computes the phase of a pod from the statuses of its containers. */
final class PodPhase {

    // Follows getPhase of pkg/kubelet/kubelet_pods.go of Kubernetes 1.36. Here a container that waits after its end is
    // always
    // about to be started again, whatever its exit code was: see WaitingContainers of podsync.

    static final String PENDING = "Pending";
    static final String RUNNING = "Running";
    static final String SUCCEEDED = "Succeeded";
    static final String FAILED = "Failed";

    private final PodSpec spec;
    private final List<ContainerStatus> statuses;

    // counts of init containers
    private int pendingInit;
    private int failedInit; // and will not be started again
    private int sidecarsStarting;

    // counts of sidecars and regular containers
    private int unknown;
    private int running;
    private int waiting;
    private int stopped;
    private int stoppedForGood;
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
            if (PodResources.isSidecar(container)) {
                phase.countSidecar(status);
            } else {
                phase.countInit(container, status);
            }
        }
        for (Container container : present(spec.getContainers())) {
            phase.countRegular(container, PodParts.named(statuses, container.getName()));
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

    private void countInit(Container container, @Nullable ContainerStatus status) {
        if (status == null || PodParts.isRunning(status)) {
            pendingInit++;
        } else if (PodParts.isTerminated(status)) {
            failedInit += hasFailed(container, status.getState()) ? 1 : 0;
        } else if (PodParts.hasTerminatedBefore(status)) {
            failedInit += hasFailed(container, status.getLastState()) ? 1 : 0;
        } else {
            pendingInit++;
        }
    }

    /** Returns whether an init container has failed for good. */
    private boolean hasFailed(Container init, ContainerState end) {
        return !PodParts.isSuccess(end) && !RestartRules.shouldRestart(init, spec, PodParts.exitCode(end));
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

    private void countRegular(Container container, @Nullable ContainerStatus status) {
        if (status == null) {
            unknown++;
        } else if (PodParts.isRunning(status)) {
            running++;
        } else if (PodParts.isTerminated(status)) {
            stopped++;
            stoppedForGood += RestartRules.shouldRestart(container, spec, PodParts.exitCode(status.getState())) ? 0 : 1;
            succeeded += PodParts.isSuccess(status.getState()) ? 1 : 0;
        } else if (PodParts.hasTerminatedBefore(status)) {
            stopped++;
        } else {
            waiting++;
        }
    }

    private String decide(boolean over) {
        if (failedInit > 0) {
            return FAILED;
        }
        boolean notInitialised = pendingInit > 0 || (sidecarsStarting > 0 && !hasStarted(spec, statuses));
        if (notInitialised || waiting > 0 || unknown > 0) {
            return PENDING;
        }
        if (running > 0) {
            return RUNNING;
        }
        if (stopped == 0) {
            return PENDING;
        }
        if (!over && stopped > stoppedForGood) {
            return RUNNING;
        }
        return stopped == succeeded ? SUCCEEDED : FAILED;
    }
}
