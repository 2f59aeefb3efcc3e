package dev.podcache.kubelet.podsync;

import com.google.common.base.Throwables;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A runtime that records its calls, and throws what a test sets. */
final class FlakyRuntime implements PodRuntime {

    PodRuntime runtime;

    /** The calls in order, such as {@code start web/main}. */
    final List<String> calls = new ArrayList<>();

    private final Map<String, Launch> launches = new HashMap<>();
    private Map<String, Map<String, VolumeFile>> mounted = Map.of();

    @Nullable
    Throwable onStart;

    @Nullable
    Throwable onMount;

    @Nullable
    Throwable onStatus;

    @Nullable
    Runnable duringStop;

    @Nullable
    RuntimeEvents events;

    int asked;

    FlakyRuntime(PodRuntime runtime) {
        this.runtime = runtime;
    }

    /** Returns the variables that a container was started with. */
    Map<String, String> environment(String container) {
        return Objects.requireNonNull(launches.get(container)).environment();
    }

    /** Returns the content of a file at the last mount of its volume. */
    String mounted(String volume, String file) {
        VolumeFile found = Objects.requireNonNull(mounted.get(volume)).get(file);
        return new String(Objects.requireNonNull(found).bytes(), StandardCharsets.UTF_8);
    }

    @Override
    public String type() {
        return runtime.type();
    }

    @Override
    public void start(RuntimeEvents events) {
        this.events = events;
    }

    @Override
    public RuntimeStatus health() {
        return runtime.health();
    }

    @Override
    public List<PodKey> pods() {
        return runtime.pods();
    }

    @Override
    public PodState status(Pod pod) {
        asked++;
        throwIfSet(onStatus);
        return runtime.status(pod);
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) throws IOException, InterruptedException {
        throwIfSet(onMount);
        mounted = volumes;
        runtime.mount(pod, volumes);
    }

    @Override
    public void start(Pod pod, Container container, Launch launch) throws IOException, InterruptedException {
        calls.add("start " + pod.getMetadata().getName() + "/" + container.getName());
        throwIfSet(onStart);
        launches.put(container.getName(), launch);
        runtime.start(pod, container, launch);
    }

    @Override
    public void stop(PodKey pod, String container, Duration gracePeriod) throws IOException, InterruptedException {
        calls.add("stop " + pod.name() + "/" + container + " in " + gracePeriod.toSeconds());
        runtime.stop(pod, container, gracePeriod);
    }

    @Override
    public void stop(PodKey pod, Duration gracePeriod) throws IOException, InterruptedException {
        calls.add("stop " + pod.name() + " in " + gracePeriod.toSeconds());
        if (duringStop != null) {
            duringStop.run();
        }
        runtime.stop(pod, gracePeriod);
    }

    @Override
    public void forget(PodKey pod) throws IOException {
        calls.add("forget " + pod.name());
        runtime.forget(pod);
    }

    private static void throwIfSet(@Nullable Throwable thrown) {
        if (thrown != null) {
            Throwables.throwIfUnchecked(thrown);
        }
    }
}
