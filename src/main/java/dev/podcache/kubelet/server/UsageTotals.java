package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.object.PodKey;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The usage of a node, which is the sum of its containers. CPU time that was counted stays counted when a container
 * ends, so that the sum never decreases; what a container used after its last measurement that counted is lost. Thread-safe.
 *
 * <p>Measurements may overtake each other. Each is begun before it is made, and its CPU time counts only if no other was counted
 * meanwhile. Otherwise a container that ended in between would be new in the older one, and be counted a second time.
 */
final class UsageTotals {

    private record Instance(PodKey pod, String container, Instant startedAt) {}

    private Map<Instance, Duration> counted = Map.of(); // guarded by this
    private Duration cpu = Duration.ZERO; // guarded by this
    private long measurements; // that were counted; guarded by this

    /** The usage of a node or pod. Immutable. */
    record Total(Duration cpu, long workingSetBytes, long rssBytes, long diskBytes) {

        /** Returns the sum over the containers of a pod. */
        static Total of(PodUsage pod) {
            Total sum = new Total(Duration.ZERO, 0, 0, 0);
            for (ContainerUsage container : pod.containers()) {
                sum = new Total(
                        sum.cpu.plus(container.cpu()),
                        sum.workingSetBytes + container.workingSetBytes(),
                        sum.rssBytes + container.rssBytes(),
                        sum.diskBytes + container.diskBytes() + container.logBytes());
            }
            return sum;
        }
    }

    /** Begins a measurement. Returns its number, for {@link #add}. */
    synchronized long begin() {
        return measurements;
    }

    /**
     * Returns the usage of the node, with these measurements of all its running containers.
     *
     * @param begun what {@link #begin} returned before they were measured
     */
    synchronized Total add(List<PodUsage> pods, long begun) {
        if (begun == measurements) {
            count(pods);
            measurements++;
        }
        long workingSet = 0;
        long rss = 0;
        long disk = 0;
        for (PodUsage pod : pods) {
            Total total = Total.of(pod);
            workingSet += total.workingSetBytes();
            rss += total.rssBytes();
            disk += total.diskBytes();
        }
        return new Total(cpu, workingSet, rss, disk);
    }

    /** The caller holds the lock. */
    private void count(List<PodUsage> pods) {
        Map<Instance, Duration> now = new HashMap<>();
        for (PodUsage pod : pods) {
            for (ContainerUsage container : pod.containers()) {
                Instance instance = new Instance(pod.pod(), container.name(), container.startedAt());
                Duration before = counted.getOrDefault(instance, Duration.ZERO);
                Duration added = container.cpu().minus(before);
                cpu = added.isNegative() ? cpu : cpu.plus(added);
                now.put(instance, added.isNegative() ? before : container.cpu());
            }
        }
        counted = now;
    }
}
