package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.object.PodKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A hollow runtime whose pods use what a test says. Each pod has one container, {@code main}. */
final class MeasuredRuntime implements PodRuntime, ContainerStatistics {

    private final HollowRuntime hollow;

    /** The memory that pods use, in bytes, by name. */
    final Map<String, Long> memory = new ConcurrentHashMap<>();

    /** The pods that were stopped, in order, with their grace periods, such as {@code web 2}. */
    final List<String> stopped = new CopyOnWriteArrayList<>();

    MeasuredRuntime(Timekeeper timekeeper) {
        hollow = new HollowRuntime(timekeeper);
    }

    @Override
    public List<PodUsage> usage() {
        return hollow.pods().stream().map(this::usage).toList();
    }

    private PodUsage usage(PodKey pod) {
        long bytes = memory.getOrDefault(pod.name(), 0L);
        ContainerUsage main =
                new ContainerUsage("main", Instant.EPOCH, Instant.EPOCH, Duration.ZERO, bytes, bytes, 0, 0);
        return new PodUsage(pod, List.of(main));
    }

    @Override
    public String type() {
        return "measured";
    }

    @Override
    public void start(RuntimeEvents events) {
        hollow.start(events);
    }

    @Override
    public RuntimeStatus health() {
        return hollow.health();
    }

    @Override
    public List<PodKey> pods() {
        return hollow.pods();
    }

    @Override
    public PodState status(Pod pod) {
        return hollow.status(pod);
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) {
        hollow.mount(pod, volumes);
    }

    @Override
    public void start(Pod pod, Container container, Launch launch) {
        hollow.start(pod, container, launch);
    }

    @Override
    public void stop(PodKey pod, String container, Duration gracePeriod) {
        hollow.stop(pod, container, gracePeriod);
    }

    @Override
    public void stop(PodKey pod, Duration gracePeriod) {
        stopped.add(pod.name() + " " + gracePeriod.toSeconds());
        hollow.stop(pod, gracePeriod);
    }

    @Override
    public void forget(PodKey pod) {
        hollow.forget(pod);
    }
}
