package dev.podcache.kubelet.podsync;

import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.VolumeFile;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A runtime that writes down what it is asked to do, and refuses what a test tells it to. */
final class FlakyRuntime implements PodRuntime {

    private final PodRuntime runtime;

    /** Such as {@code start web/main}, in order. */
    final List<String> calls = new ArrayList<>();

    private final Map<String, Launch> launches = new HashMap<>();
    private ImmutableMap<String, ImmutableMap<String, VolumeFile>> mounted = ImmutableMap.of();

    @Nullable
    Throwable onStart;

    @Nullable
    Throwable onMount;

    @Nullable
    Throwable onStatus;

    @Nullable
    Runnable duringStop;

    int asked;

    FlakyRuntime(PodRuntime runtime) {
        this.runtime = runtime;
    }

    /** What a container was started with. */
    ImmutableMap<String, String> environment(String container) {
        return Objects.requireNonNull(launches.get(container)).environment();
    }

    /** What a file of a volume contained when it was last mounted. */
    String mounted(String volume, String file) {
        VolumeFile found = Objects.requireNonNull(mounted.get(volume)).get(file);
        return new String(Objects.requireNonNull(found).bytes(), StandardCharsets.UTF_8);
    }

    @Override
    public String type() {
        return runtime.type();
    }

    @Override
    public String version() {
        return runtime.version();
    }

    @Override
    public PodState status(Pod pod) {
        asked++;
        refuse(onStatus);
        return runtime.status(pod);
    }

    @Override
    public void mount(Pod pod, ImmutableMap<String, ImmutableMap<String, VolumeFile>> volumes) {
        refuse(onMount);
        mounted = volumes;
        runtime.mount(pod, volumes);
    }

    @Override
    public void start(Pod pod, Container container, Launch launch) {
        calls.add("start " + pod.getMetadata().getName() + "/" + container.getName());
        refuse(onStart);
        launches.put(container.getName(), launch);
        runtime.start(pod, container, launch);
    }

    @Override
    public void stop(Pod pod, Duration gracePeriod) throws InterruptedException {
        calls.add("stop " + pod.getMetadata().getName() + " in " + gracePeriod.toSeconds());
        if (duringStop != null) {
            duringStop.run();
        }
        runtime.stop(pod, gracePeriod);
    }

    @Override
    public void forget(Pod pod) {
        calls.add("forget " + pod.getMetadata().getName());
        runtime.forget(pod);
    }

    private static void refuse(@Nullable Throwable thrown) {
        if (thrown != null) {
            Throwables.throwIfUnchecked(thrown);
        }
    }

    @Override
    public Optional<String> problem() {
        return runtime.problem();
    }
}
