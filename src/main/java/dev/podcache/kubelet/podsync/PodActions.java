package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.pod.EphemeralContainers;
import dev.podcache.pod.PodResources;
import dev.podcache.pod.RestartRules;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What must be done for a pod to be as its spec requires: the containers to stop, then the containers to start. Follows
 * {@code computePodActions} and {@code computeInitContainerActions} of the kubelet's {@code kuberuntime_manager.go} and
 * {@code kuberuntime_container.go}. Immutable.
 *
 * @param stops running containers that must be stopped because they are unhealthy or their spec has changed
 * @param starts containers to start, in this order; they never ran, or they ended. Ephemeral containers never ran. They come
 *     first, so that they start in a pod whose others cannot
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
     * @param targets the names of the containers that were started, whose processes an ephemeral container may want to see;
     *     empty if none was
     */
    record ContainerStart(
            Container container, boolean init, @Nullable ContainerStatus last, List<String> targets) {

        ContainerStart(Container container, boolean init, @Nullable ContainerStatus last) {
            this(container, init, last, List.of());
        }
    }

    /**
     * Computes the actions.
     *
     * @param current the complete statuses of all containers that were ever started
     * @param unhealthy returns why a running container must be stopped; empty if it need not
     */
    static PodActions of(
            Pod pod,
            PodState current,
            ContainerMemory memory,
            BiFunction<Container, ContainerStatus, Optional<ContainerHealth.Unhealthy>> unhealthy) {
        return new Computation(pod, current, memory, unhealthy).compute();
    }

    private static final class Computation {

        private final Pod pod;
        private final PodSpec spec;
        private final PodState current;
        private final ContainerMemory memory;
        private final BiFunction<Container, ContainerStatus, Optional<ContainerHealth.Unhealthy>> unhealthy;
        private final List<ContainerStop> stops = new ArrayList<>();
        private final List<ContainerStart> starts = new ArrayList<>();
        private boolean failedInit;

        Computation(
                Pod pod,
                PodState current,
                ContainerMemory memory,
                BiFunction<Container, ContainerStatus, Optional<ContainerHealth.Unhealthy>> unhealthy) {
            this.pod = pod;
            this.spec = pod.getSpec();
            this.current = current;
            this.memory = memory;
            this.unhealthy = unhealthy;
        }

        PodActions compute() {
            if (isOver()) {
                return new PodActions(List.of(), List.of(), true);
            }
            List<String> started = Stream.concat(current.initContainers().stream(), current.containers().stream())
                    .map(ContainerStatus::getName)
                    .toList();
            ephemeral(started);
            // once a regular container has run, the pod stays initialised, unless its runtime has lost all of them
            boolean initialized = !current.containers().isEmpty() && !memory.hasLostContainers();
            if (initialize(initialized)) {
                spec.getContainers().forEach(this::regular);
            }
            return actions(false);
        }

        private void ephemeral(List<String> started) {
            for (Container container : EphemeralContainers.of(pod)) {
                if (States.named(current.ephemeralContainers(), container.getName()) == null) {
                    starts.add(new ContainerStart(container, false, null, started));
                }
            }
        }

        /** Returns whether all regular containers have ended for good. */
        private boolean isOver() {
            for (Container container : spec.getContainers()) {
                ContainerStatus status = States.named(current.containers(), container.getName());
                if (status == null || !States.isTerminated(status) || isRestarted(container, status)) {
                    return false;
                }
            }
            return true;
        }

        private PodActions actions(boolean over) {
            return new PodActions(List.copyOf(stops), List.copyOf(starts), over || failedInit);
        }

        /** Decides about init containers. Returns whether regular containers may run. */
        private boolean initialize(boolean initialized) {
            for (Container container : spec.getInitContainers()) {
                ContainerStatus status = States.named(current.initContainers(), container.getName());
                boolean mayGoOn = PodResources.isSidecar(container)
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
            if (status == null || memory.isToRunAgain(container.getName())) {
                starts.add(new ContainerStart(container, true, status));
                return false;
            }
            if (States.isSuccess(status)) {
                return true;
            }
            if (States.isTerminated(status)) {
                if (RestartRules.shouldRestart(container, spec, States.exitCode(status))) {
                    starts.add(new ContainerStart(container, true, status));
                } else {
                    failedInit = true;
                }
            }
            return false;
        }

        private void regular(Container container) {
            ContainerStatus status = States.named(current.containers(), container.getName());
            if (status == null || (States.isTerminated(status) && isRestarted(container, status))) {
                starts.add(new ContainerStart(container, false, status));
            } else if (States.isRunning(status)) {
                checkRunning(
                        new ContainerStart(container, false, status),
                        status,
                        RestartRules.restartsAfterProbe(container, spec));
            }
        }

        private boolean isRestarted(Container container, ContainerStatus status) {
            return RestartRules.shouldRestart(container, spec, States.exitCode(status))
                    || (memory.isToRestart(status) && RestartRules.restartsAfterProbe(container, spec));
        }

        private void checkRunning(ContainerStart instance, ContainerStatus status, boolean restartsAfterFailure) {
            Container container = instance.container();
            if (memory.hasChanged(container, current)) {
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
