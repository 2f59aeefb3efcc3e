package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.pod.PodResources;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A runtime in memory that checks how it is called, and during whose calls a test makes other things happen. One thread
 * at a time runs, but not always the same.
 */
final class ModelRuntime implements PodRuntime {

    private final Map<PodKey, Map<String, ModelInstance>> pods = new LinkedHashMap<>();
    private final Set<PodKey> inCall = new HashSet<>();
    private final Set<String> deleted = new HashSet<>();
    private @Nullable RuntimeEvents events;
    private final Map<String, Integer> starts = new HashMap<>();
    private int instances;

    /** The promises that were broken. The workers survive whatever is thrown, so it would not show. */
    final List<String> broken = new ArrayList<>();

    private void check(boolean kept, String otherwise) {
        if (!kept) {
            broken.add(otherwise);
        }
    }

    /** Happens during each call. */
    Runnable meanwhile = () -> {};

    /** Returns whether the next call fails. */
    BooleanSupplier fails = () -> false;

    private static final class ModelInstance {
        final String name;
        final String id;
        final boolean init;
        final int restartCount;

        @Nullable
        Integer exitCode;

        ModelInstance(String name, String id, boolean init, int restartCount) {
            this.name = name;
            this.id = id;
            this.init = init;
            this.restartCount = restartCount;
        }

        ContainerStatus status() {
            ContainerStatusBuilder status = new ContainerStatusBuilder()
                    .withName(name)
                    .withContainerID(id)
                    .withRestartCount(restartCount);
            return exitCode == null
                    ? status.withNewState()
                            .withNewRunning("2026-01-01T00:00:00Z")
                            .endState()
                            .build()
                    : status.withNewState()
                            .withNewTerminated()
                            .withContainerID(id)
                            .withExitCode(exitCode)
                            .withFinishedAt("2026-01-01T00:00:00Z")
                            .endTerminated()
                            .endState()
                            .build();
        }
    }

    /** Records that the agent knows of the deletion of a pod, so that none of its containers may be started. */
    void deleted(Pod pod) {
        deleted.add(pod.getMetadata().getUid());
    }

    /** Lets a running container end by itself. */
    void end(PodKey pod, String container, int exitCode) {
        ModelInstance instance = pods.getOrDefault(pod, Map.of()).get(container);
        if (instance != null && instance.exitCode == null) {
            instance.exitCode = exitCode;
            Objects.requireNonNull(events).changed(pod.uid());
        }
    }

    boolean isRunning(PodKey pod, String container) {
        ModelInstance instance = pods.getOrDefault(pod, Map.of()).get(container);
        return instance != null && instance.exitCode == null;
    }

    /** Returns how often a container was started. */
    int starts(PodKey pod, String container) {
        return starts.getOrDefault(pod + "/" + container, 0);
    }

    @Override
    public String type() {
        return "model";
    }

    @Override
    public void listen(RuntimeEvents notified) {
        events = notified;
    }

    @Override
    public RuntimeStatus health() {
        return RuntimeStatus.ready("1");
    }

    @Override
    public List<PodKey> pods() {
        return List.copyOf(pods.keySet());
    }

    @Override
    public PodState status(Pod pod) {
        meanwhile.run();
        List<ContainerStatus> init = new ArrayList<>();
        List<ContainerStatus> regular = new ArrayList<>();
        for (ModelInstance instance :
                pods.getOrDefault(PodReferences.key(pod), Map.of()).values()) {
            (instance.init ? init : regular).add(instance.status());
        }
        return PodState.of(init, regular, List.of());
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) throws IOException, InterruptedException {
        call(PodReferences.key(pod), () -> {});
    }

    @Override
    public void startContainer(Pod pod, Container container, Launch launch) throws IOException, InterruptedException {
        PodKey key = PodReferences.key(pod);
        check(!deleted.contains(key.uid()), "a container starts after its pod was deleted");
        check(!isRunning(key, container.getName()), "a running container is started");
        boolean init = pod.getSpec().getInitContainers().contains(container);
        call(key, () -> {
            Map<String, ModelInstance> all = pods.computeIfAbsent(key, added -> new LinkedHashMap<>());
            ModelInstance instance =
                    new ModelInstance(container.getName(), "model://" + ++instances, init, launch.restartCount());
            all.put(instance.name, instance);
            starts.merge(key + "/" + instance.name, 1, Integer::sum);
            if (init && !PodResources.isSidecar(container)) {
                instance.exitCode = 0;
            }
        });
    }

    @Override
    public void stopContainer(PodKey pod, String container, Duration gracePeriod)
            throws IOException, InterruptedException {
        call(pod, () -> stopped(pod, container));
    }

    @Override
    public void stopPod(PodKey pod, Duration gracePeriod) throws IOException, InterruptedException {
        call(pod, () -> Set.copyOf(pods.getOrDefault(pod, Map.of()).keySet()).forEach(each -> stopped(pod, each)));
    }

    private void stopped(PodKey pod, String container) {
        ModelInstance instance = pods.getOrDefault(pod, Map.of()).get(container);
        if (instance != null && instance.exitCode == null) {
            instance.exitCode = 0;
        }
    }

    @Override
    public void forget(PodKey pod) throws IOException {
        for (ModelInstance instance : pods.getOrDefault(pod, Map.of()).values()) {
            check(instance.exitCode != null, "a pod is forgotten that runs");
        }
        pods.remove(pod);
    }

    private void call(PodKey pod, Runnable effect) throws IOException, InterruptedException {
        check(inCall.add(pod), "two calls for one pod at a time");
        try {
            meanwhile.run();
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (fails.getAsBoolean()) {
                throw new IOException("the runtime is busy");
            }
            effect.run();
        } finally {
            inCall.remove(pod);
        }
    }
}
