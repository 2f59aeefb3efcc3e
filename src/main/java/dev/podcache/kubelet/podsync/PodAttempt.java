package dev.podcache.kubelet.podsync;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.podconfig.PodConfigException;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podstatus.PodObservation;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.VolumeFile;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt to bring a pod to where its spec wants it: volumes, then init containers one after the other, then all
 * others. What is in the way of one container does not keep the others of its kind from starting. Used by one thread.
 */
final class PodAttempt {

    private static final Logger log = LoggerFactory.getLogger(PodAttempt.class);
    private static final String NO_CONFIG = "CreateContainerConfigError";
    private static final String NOT_STARTED = "RunContainerError";

    private final Pod pod;
    private final PodRuntime runtime;
    private final PodConfiguration configuration;
    private final PodPlacement placement;

    private final List<PodWarning> complaints = new ArrayList<>();
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

    void run() {
        if (mount() && initialize()) {
            startAll();
        }
    }

    ImmutableList<PodWarning> complaints() {
        return ImmutableList.copyOf(complaints);
    }

    /** Whether a Secret, a ConfigMap or the like is missing. */
    boolean lacksConfig() {
        return lacksConfig;
    }

    /** Whether the runtime refused something. */
    boolean failed() {
        return failed;
    }

    /** What is to be said of the pod now. */
    PodObservation observe() {
        PodState status = runtime.status(pod);
        return PodObservation.of(and(status.containers(), waiting), and(status.initContainers(), waitingInit))
                .at(placement.hostIps(), placement.podIps());
    }

    private boolean mount() {
        ImmutableMap.Builder<String, ImmutableMap<String, VolumeFile>> volumes = ImmutableMap.builder();
        for (Volume volume : pod.getSpec().getVolumes()) {
            if (PodConfiguration.isMadeHere(volume)) {
                try {
                    volumes.put(volume.getName(), configuration.volume(pod, volume, placement));
                } catch (PodConfigException e) {
                    lacksConfig = true;
                    complaints.add(PodWarning.ofVolume(volume.getName(), text(e)));
                }
            }
        }
        return !lacksConfig && mount(volumes.buildOrThrow());
    }

    private boolean mount(ImmutableMap<String, ImmutableMap<String, VolumeFile>> volumes) {
        try {
            runtime.mount(pod, volumes);
            return true;
        } catch (RuntimeException | Error e) {
            complaints.add(PodWarning.ofMount(refused("mount the volumes of", e)));
            return false;
        }
    }

    /** Whether all init containers have done their work. */
    private boolean initialize() {
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

    private void startAll() {
        PodState status = runtime.status(pod);
        for (Container container : pod.getSpec().getContainers()) {
            if (named(container, status.containers()) == null) {
                start(container, "containers", waiting);
            }
        }
    }

    private void start(Container container, String list, List<ContainerStatus> waits) {
        try {
            ImmutableMap<String, String> environment = configuration.environment(pod, container, placement);
            // looked for only now: that one is missing is told each time
            runtime.start(pod, container, new PodRuntime.Launch(environment, configuration.pullSecrets(pod)));
        } catch (PodConfigException e) {
            lacksConfig = true;
            waits.add(waiting(container, NO_CONFIG, text(e)));
            complaints.add(PodWarning.ofContainer(list, container.getName(), text(e)));
        } catch (RuntimeException | Error e) {
            String why = refused("start container " + container.getName() + " of", e);
            waits.add(waiting(container, NOT_STARTED, why));
            complaints.add(PodWarning.ofContainer(list, container.getName(), why));
        }
    }

    private String refused(String what, Throwable e) {
        failed = true;
        log.warn(
                "the runtime did not {} pod {}/{}",
                what,
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

    private static ImmutableList<ContainerStatus> and(List<ContainerStatus> known, List<ContainerStatus> added) {
        return ImmutableList.<ContainerStatus>builder()
                .addAll(known)
                .addAll(added)
                .build();
    }

    private static String text(Throwable e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }
}
