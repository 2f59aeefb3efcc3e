package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.runtime.ContainerStatistics;
import dev.podcache.kubelet.runtime.ForwardingRuntime;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.object.PodKey;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A hollow runtime whose pods use what a test says. Each pod has one container, {@code main}. */
final class MeasuredRuntime extends ForwardingRuntime implements ContainerStatistics {

    /** The memory that pods use, in bytes, by name. */
    final Map<String, Long> memory = new ConcurrentHashMap<>();

    /** The pods that were stopped, in order, with their grace periods, such as {@code web 2}. */
    final List<String> stopped = new CopyOnWriteArrayList<>();

    MeasuredRuntime(Timekeeper timekeeper) {
        super(new HollowRuntime(timekeeper));
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
    public void stopPod(PodKey pod, Duration gracePeriod) {
        stopped.add(pod.name() + " " + gracePeriod.toSeconds());
        hollow.stopPod(pod, gracePeriod);
    }
}
