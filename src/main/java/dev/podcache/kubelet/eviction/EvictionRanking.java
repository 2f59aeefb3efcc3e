package dev.podcache.kubelet.eviction;

import dev.podcache.kubelet.eviction.StorageLayout.StoragePart;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.pod.CriticalPods;
import dev.podcache.pod.PodResources;
import io.fabric8.kubernetes.api.model.Pod;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The order in which pods are evicted. For memory and disks, pods come first that use more than they request, then those
 * of a lower priority, then those that exceed their requests by more. For process ids, the priority counts first, then
 * the number of processes. Pods that were not measured come before others, and the UID decides in the end. Pure.
 *
 * <p>Follows {@code rankMemoryPressure}, {@code rankPIDPressure} and {@code rankDiskPressureFunc} of the kubelet's {@code
 * eviction/helpers.go}, with one difference: the kubelet subtracts requested bytes from used inodes; here
 * inodes have no request.
 */
final class EvictionRanking {

    private static final Comparator<Place> BY_EXCESS = Comparator.comparing(Place::exceeds)
            .thenComparing(Place::priority)
            .thenComparing(Place::excess, Comparator.reverseOrder())
            .thenComparing(Place::uid);

    private static final Comparator<Place> BY_PRIORITY = Comparator.comparing(Place::priority)
            .thenComparing(Place::exceeds)
            .thenComparing(Place::excess, Comparator.reverseOrder())
            .thenComparing(Place::uid);

    private EvictionRanking() {}

    private enum Exceeds {
        UNKNOWN,
        YES,
        NO
    }

    /** What decides about the place of a pod. */
    private record Place(Pod pod, Exceeds exceeds, int priority, BigDecimal excess, String uid) {}

    /** Returns the pods in the order in which they are evicted for {@code signal}. */
    static List<Pod> ranked(List<Pod> pods, EvictionSignal signal, Measurement measurement) {
        boolean processes = signal == EvictionSignal.PID_AVAILABLE;
        return pods.stream()
                .map(pod -> place(pod, signal, measurement))
                .sorted(processes ? BY_PRIORITY : BY_EXCESS)
                .map(Place::pod)
                .toList();
    }

    private static Place place(Pod pod, EvictionSignal signal, Measurement measurement) {
        String uid = String.valueOf(pod.getMetadata().getUid());
        int priority = CriticalPods.priority(pod);
        Optional<PodUsage> usage = measurement.usage(pod);
        if (usage.isEmpty()) {
            return new Place(pod, Exceeds.UNKNOWN, priority, BigDecimal.ZERO, uid);
        }
        BigDecimal used = BigDecimal.valueOf(
                used(pod, usage.get(), signal, measurement.layout().partsOf(signal)));
        BigDecimal excess = used.subtract(PodResources.request(pod, signal.resource()));
        // the number of processes counts only among pods of the same priority
        boolean exceeds = signal == EvictionSignal.PID_AVAILABLE || excess.signum() > 0;
        return new Place(pod, exceeds ? Exceeds.YES : Exceeds.NO, priority, excess, uid);
    }

    private static long used(Pod pod, PodUsage usage, EvictionSignal signal, Set<StoragePart> parts) {
        return switch (signal.resource()) {
            case "memory" ->
                usage.containers().stream()
                        .mapToLong(ContainerUsage::workingSetBytes)
                        .sum();
            case "pids" -> usage.processes();
            case "inodes" -> PodDiskUsage.inodes(pod, usage, parts);
            default -> PodDiskUsage.bytes(pod, usage, parts);
        };
    }
}
