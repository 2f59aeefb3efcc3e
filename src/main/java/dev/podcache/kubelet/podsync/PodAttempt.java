package dev.podcache.kubelet.podsync;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.podconfig.PodConfigException;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podconfig.VolumePayloads;
import dev.podcache.kubelet.podstatus.PodObservation;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.VolumeFile;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt to start what a pod's spec requires: its volumes, then the init containers one after the other, then all
 * regular containers. The failure of one regular container does not keep the others from starting. Not thread-safe.
 */
final class PodAttempt {

    private static final Logger log = LoggerFactory.getLogger(PodAttempt.class);
    private static final String CONFIG_UNAVAILABLE = "CreateContainerConfigError";
    private static final String START_FAILED = "RunContainerError";

    private final Pod pod;
    private final PodRuntime runtime;
    private final PodConfiguration configuration;
    private final PodPlacement placement;

    private final List<PodWarning> warnings = new ArrayList<>();
    private final List<ContainerStatus> waitingInit = new ArrayList<>();
    private final List<ContainerStatus> waiting = new ArrayList<>();
    private boolean lacksConfig;
    private boolean failed;

    PodAttempt(Pod pod, PodRuntime runtime, PodConfiguration configuration, PodPlacement placement) {
        this.pod = pod;
        this.runtime = runtime;
        this.configuration = configuration;
        this.placement = placement;
    }

    void run() throws InterruptedException {
        if (mount() && initialize()) {
            startAll();
        }
    }

    List<PodWarning> warnings() {
        return List.copyOf(warnings);
    }

    /** Returns whether configuration was unavailable, such as a Secret or ConfigMap. */
    boolean lacksConfig() {
        return lacksConfig;
    }

    /** Returns whether a call of the runtime failed. */
    boolean failed() {
        return failed;
    }

    /** Returns the observation to report: the runtime's state, and the containers that could not be started. */
    PodObservation observe() {
        PodState state = runtime.status(pod);
        return PodObservation.of(concat(state.containers(), waiting), concat(state.initContainers(), waitingInit))
                .at(placement.hostIps(), placement.podIps());
    }

    private boolean mount() throws InterruptedException {
        ImmutableMap.Builder<String, Map<String, VolumeFile>> volumes = ImmutableMap.builder();
        for (Volume volume : pod.getSpec().getVolumes()) {
            if (VolumePayloads.isMadeHere(volume)) {
                try {
                    volumes.put(volume.getName(), configuration.volume(pod, volume, placement));
                } catch (PodConfigException e) {
                    lacksConfig = true;
                    warnings.add(PodWarning.ofVolume(volume.getName(), text(e)));
                }
            }
        }
        return !lacksConfig && mount(volumes.buildOrThrow());
    }

    private boolean mount(Map<String, Map<String, VolumeFile>> volumes) throws InterruptedException {
        try {
            runtime.mount(pod, volumes);
            return true;
        } catch (IOException | RuntimeException | Error e) {
            warnings.add(PodWarning.ofMount(runtimeFailed("mount volumes", e)));
            return false;
        }
    }

    /** Starts the next init containers, and returns whether all of them are done. */
    private boolean initialize() throws InterruptedException {
        for (Container container : pod.getSpec().getInitContainers()) {
            if (named(container, runtime.status(pod).initContainers()) == null) {
                start(container, "initContainers", waitingInit);
            }
            ContainerStatus status = named(container, runtime.status(pod).initContainers());
            if (status == null || !isDone(container, status)) {
                return false;
            }
        }
        return true;
    }

    private void startAll() throws InterruptedException {
        PodState state = runtime.status(pod);
        for (Container container : pod.getSpec().getContainers()) {
            if (named(container, state.containers()) == null) {
                start(container, "containers", waiting);
            }
        }
    }

    private void start(Container container, String list, List<ContainerStatus> waitingStatuses)
            throws InterruptedException {
        try {
            Map<String, String> environment = configuration.environment(pod, container, placement);
            // read after the environment: each read of an unavailable pull secret records an event
            runtime.start(
                    pod,
                    container,
                    new Launch(List.of(), List.of(), "", environment, List.of(), configuration.pullSecrets(pod), 0));
        } catch (PodConfigException e) {
            lacksConfig = true;
            waitingStatuses.add(waiting(container, CONFIG_UNAVAILABLE, text(e)));
            warnings.add(PodWarning.ofContainer(list, container.getName(), text(e)));
        } catch (IOException | RuntimeException | Error e) {
            String cause = runtimeFailed("start container " + container.getName(), e);
            waitingStatuses.add(waiting(container, START_FAILED, cause));
            warnings.add(PodWarning.ofContainer(list, container.getName(), cause));
        }
    }

    private String runtimeFailed(String action, Throwable e) {
        failed = true;
        log.warn(
                "runtime failed to {} of pod {}/{}; retrying",
                action,
                pod.getMetadata().getNamespace(),
                pod.getMetadata().getName(),
                e);
        return text(e);
    }

    private static boolean isDone(Container container, ContainerStatus status) {
        if ("Always".equals(container.getRestartPolicy())) {
            return Boolean.TRUE.equals(status.getStarted());
        }
        return status.getState().getTerminated() != null
                && Integer.valueOf(0).equals(status.getState().getTerminated().getExitCode());
    }

    private static ContainerStatus waiting(Container container, String reason, String message) {
        return new ContainerStatusBuilder()
                .withName(container.getName())
                .withImage(container.getImage())
                .withImageID("")
                .withReady(false)
                .withStarted(false)
                .withRestartCount(0)
                .withNewState()
                .withNewWaiting(message, reason)
                .endState()
                .build();
    }

    private static @Nullable ContainerStatus named(Container container, List<ContainerStatus> statuses) {
        return statuses.stream()
                .filter(status -> container.getName().equals(status.getName()))
                .findFirst()
                .orElse(null);
    }

    private static List<ContainerStatus> concat(List<ContainerStatus> started, List<ContainerStatus> notStarted) {
        return Stream.concat(started.stream(), notStarted.stream()).toList();
    }

    private static String text(Throwable e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
}
