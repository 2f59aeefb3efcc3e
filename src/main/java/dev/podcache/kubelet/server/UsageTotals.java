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
 * ends, so that the sum never decreases; what a container used after its last measurement is lost. Thread-safe.
 */
final class UsageTotals {

    private record Instance(PodKey pod, String container, Instant startedAt) {}

    private Map<Instance, Duration> counted = Map.of(); // guarded by this
    private Duration cpu = Duration.ZERO; // guarded by this

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

    /** Returns the usage of the node, with these measurements of all its running containers. */
    synchronized Total add(List<PodUsage> pods) {
        Map<Instance, Duration> now = new HashMap<>();
        long workingSet = 0;
        long rss = 0;
        long disk = 0;
        for (PodUsage pod : pods) {
            for (ContainerUsage container : pod.containers()) {
                Instance instance = new Instance(pod.pod(), container.name(), container.startedAt());
                Duration before = counted.getOrDefault(instance, Duration.ZERO);
                Duration added = container.cpu().minus(before);
                cpu = added.isNegative() ? cpu : cpu.plus(added);
                now.put(instance, added.isNegative() ? before : container.cpu());
            }
            Total total = Total.of(pod);
            workingSet += total.workingSetBytes();
            rss += total.rssBytes();
            disk += total.diskBytes();
        }
        counted = now;
        return new Total(cpu, workingSet, rss, disk);
    }
}
