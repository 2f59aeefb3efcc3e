package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.PodState;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * What must be done for a pod to be as its spec requires: the containers to stop, then the containers to start. Follows
 * {@code computePodActions} and {@code computeInitContainerActions} of the kubelet's {@code kuberuntime_manager.go} and
 * {@code kuberuntime_container.go}. Immutable.
 *
 * @param stops running containers that must be stopped because they are unhealthy or their image has changed
 * @param starts containers to start, in this order; they never ran, or they ended
 * @param over whether the pod has ended: no regular container runs or will be started. Sidecars may still run
 */
record PodActions(List<ContainerStop> stops, List<ContainerStart> starts, boolean over) {

    /**
     * A container to stop.
     *
     * @param instance the container, and the status of its running instance
     * @param why the message of the event, such as {@code Container web failed liveness probe, will be restarted}
     * @param gracePeriod the container's grace period; empty for the pod's
     */
    record ContainerStop(ContainerStart instance, String why, Optional<Duration> gracePeriod, AfterStop next) {

        Container container() {
            return instance.container();
        }
    }

    /** What follows the stop of a container, whatever its exit code. */
    enum AfterStop {
        /** The container has changed, and is started at once. */
        START,
        /** A probe failed, and the container is started after its back-off. */
        START_AFTER_BACKOFF,
        /** A probe failed, but the restart policy is Never. */
        NOTHING
    }

    /**
     * A container to start.
     *
     * @param init whether it is an init container
     * @param last the status of the instance before; null if the container never ran
     */
    record ContainerStart(
            Container container, boolean init, @Nullable ContainerStatus last) {}

    /**
     * Computes the actions.
     *
     * @param current the complete statuses of all containers that were ever started
     * @param unhealthy returns why a running container must be stopped; empty if it need not
     */
    static PodActions of(
            PodSpec spec,
            PodState current,
            ContainerMemory memory,
            BiFunction<Container, ContainerStatus, Optional<ContainerHealth.Unhealthy>> unhealthy) {
        return new Computation(spec, current, memory, unhealthy).compute();
    }

    private static final class Computation {

        private final PodSpec spec;
        private final PodState current;
        private final ContainerMemory memory;
        private final BiFunction<Container, ContainerStatus, Optional<ContainerHealth.Unhealthy>> unhealthy;
        private final List<ContainerStop> stops = new ArrayList<>();
        private final List<ContainerStart> starts = new ArrayList<>();
        private boolean failedInit;

        Computation(
                PodSpec spec,
                PodState current,
                ContainerMemory memory,
                BiFunction<Container, ContainerStatus, Optional<ContainerHealth.Unhealthy>> unhealthy) {
            this.spec = spec;
            this.current = current;
            this.memory = memory;
            this.unhealthy = unhealthy;
        }

        PodActions compute() {
            // once a regular container has run, the pod stays initialised
            boolean initialized = !current.containers().isEmpty();
            if (!initialize(initialized)) {
                return actions(false);
            }
            int running = 0;
            for (Container container : spec.getContainers()) {
                running += regular(container) ? 1 : 0;
            }
            boolean over = running == 0 && starts.stream().allMatch(ContainerStart::init);
            return over ? new PodActions(List.of(), List.of(), true) : actions(false);
        }

        private PodActions actions(boolean over) {
            return new PodActions(List.copyOf(stops), List.copyOf(starts), over || failedInit);
        }

        /** Decides about init containers. Returns whether regular containers may run. */
        private boolean initialize(boolean initialized) {
            for (Container container : spec.getInitContainers()) {
                ContainerStatus status = States.named(current.initContainers(), container.getName());
                boolean mayGoOn = States.isSidecar(container)
                        ? sidecar(container, status)
                        : initialized || completed(container, status);
                if (!mayGoOn && !initialized) {
                    return false;
                }
            }
            return true;
        }

        /** Returns whether the sidecar has started. */
        private boolean sidecar(Container container, @Nullable ContainerStatus status) {
            if (status == null || States.isTerminated(status)) {
                starts.add(new ContainerStart(container, true, status));
                return false;
            }
            if (States.isRunning(status)) {
                checkRunning(new ContainerStart(container, true, status), status, true);
            }
            return Boolean.TRUE.equals(status.getStarted());
        }

        /** Returns whether the init container has succeeded. */
        private boolean completed(Container container, @Nullable ContainerStatus status) {
            if (status == null) {
                starts.add(new ContainerStart(container, true, null));
                return false;
            }
            if (States.isSuccess(status)) {
                return true;
            }
            if (States.isTerminated(status)) {
                if ("Never".equals(spec.getRestartPolicy())) {
                    failedInit = true;
                } else {
                    starts.add(new ContainerStart(container, true, status));
                }
            }
            return false;
        }

        /** Returns whether the container runs or comes back by itself. */
        private boolean regular(Container container) {
            ContainerStatus status = States.named(current.containers(), container.getName());
            if (status == null || (States.isTerminated(status) && isRestarted(status))) {
                starts.add(new ContainerStart(container, false, status));
                return false;
            }
            if (States.isRunning(status)) {
                checkRunning(
                        new ContainerStart(container, false, status), status, !"Never".equals(spec.getRestartPolicy()));
            }
            return !States.isTerminated(status);
        }

        private boolean isRestarted(ContainerStatus status) {
            if ("Never".equals(spec.getRestartPolicy())) {
                return false;
            }
            return !"OnFailure".equals(spec.getRestartPolicy())
                    || !States.isSuccess(status)
                    || memory.isToRestart(status);
        }

        private void checkRunning(ContainerStart instance, ContainerStatus status, boolean restartsAfterFailure) {
            Container container = instance.container();
            if (container.getImage() != null && !container.getImage().equals(memory.image(status))) {
                String why = "Container " + container.getName() + " definition changed, will be restarted";
                stops.add(new ContainerStop(instance, why, Optional.empty(), AfterStop.START));
                return;
            }
            AfterStop next = restartsAfterFailure ? AfterStop.START_AFTER_BACKOFF : AfterStop.NOTHING;
            String restart = restartsAfterFailure ? ", will be restarted" : "";
            unhealthy.apply(container, status).ifPresent(failed -> {
                String why = "Container " + container.getName() + " failed " + failed.probe() + " probe" + restart;
                stops.add(new ContainerStop(instance, why, failed.gracePeriod(), next));
            });
        }
    }
}
