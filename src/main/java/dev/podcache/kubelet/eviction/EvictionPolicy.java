package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.eviction.StorageLayout.Cleanup;
import dev.podcache.kubelet.eviction.ThresholdTracker.Assessment;
import dev.podcache.pod.CriticalPods;
import dev.podcache.pod.QosClass;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Toleration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides which pressure a node reports, which pods it evicts, and which it does not admit. Facts in, decisions out: does
 * no I/O and reads no clock. Not thread-safe, except {@link #rejection}.
 */
final class EvictionPolicy {

    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(30);
    private static final String MEMORY_TAINT = "node.kubernetes.io/memory-pressure";

    private final EvictionOptions options;
    private final ImmutableList<EvictionThreshold> configured;
    private final ThresholdTracker tracker;

    EvictionPolicy(EvictionOptions options) {
        this.options = options;
        this.configured = options.thresholds();
        this.tracker = new ThresholdTracker(options.pressureTransition());
    }

    /** Takes in a measurement, with the time of it in nanoseconds. */
    Assessment assess(Measurement measurement, long now) {
        return tracker.assess(thresholds(measurement.layout()), measurement, now);
    }

    /** Returns the thresholds, with those of the containers' file system, which follow another file system's. */
    ImmutableList<EvictionThreshold> thresholds(StorageLayout layout) {
        ImmutableList.Builder<EvictionThreshold> all = ImmutableList.builder();
        all.addAll(configured);
        for (EvictionSignal signal :
                List.of(EvictionSignal.CONTAINER_FS_AVAILABLE, EvictionSignal.CONTAINER_FS_INODES_FREE)) {
            EvictionSignal followed = layout.configured(signal);
            configured.stream()
                    .filter(threshold -> threshold.signal() == followed)
                    .forEach(threshold -> all.add(threshold.withSignal(signal)));
        }
        return all.build();
    }

    /** Returns the evictions of pods that exceed a limit of local storage; in any number. */
    List<Eviction> overLimits(List<Pod> active, Measurement measurement) {
        List<Eviction> evictions = new ArrayList<>();
        if (options.localStorageLimits()) {
            for (Pod pod : active) {
                measurement
                        .usage(pod)
                        .filter(usage -> !CriticalPods.isCritical(pod))
                        .flatMap(usage -> StorageLimits.exceeded(pod, usage, measurement.layout()))
                        .ifPresent(limit -> evictions.add(Eviction.overLimit(pod, limit.signal(), limit.message())));
            }
        }
        return evictions;
    }

    /** Returns what to delete for a threshold that is due, before a pod is evicted. */
    static ImmutableSet<Cleanup> cleanup(EvictionThreshold due, Measurement measurement) {
        return measurement.layout().cleanupOf(due.signal());
    }

    /** Returns whether no threshold is met any more, with its minimum reclaim; false if the runtime was not measured now. */
    boolean isRelieved(Measurement after) {
        return after.pods() == PodFigures.NEW
                && thresholds(after.layout()).stream()
                        .noneMatch(threshold -> after.supply(threshold.signal())
                                .map(threshold::isUnresolved)
                                .orElse(false));
    }

    /** Returns the evictions for the first threshold that is due: of all pods that may go, the first one first. */
    Stream<Eviction> forPressure(Assessment assessment, List<Pod> active, Measurement measurement) {
        EvictionThreshold threshold = assessment.due().get(0);
        return EvictionRanking.ranked(active, threshold.signal(), measurement).stream()
                .filter(pod -> !CriticalPods.isCritical(pod))
                .map(pod -> {
                    EvictionMessage.Explained why =
                            EvictionMessage.of(threshold.signal().resource(), pod, assessment.due(), measurement);
                    return new Eviction(
                            pod,
                            threshold.signal().toString(),
                            why.message(),
                            why.annotations(),
                            grace(threshold, pod),
                            true);
                });
    }

    private Duration grace(EvictionThreshold threshold, Pod pod) {
        if (threshold.isHard()) {
            return Eviction.IMMEDIATE;
        }
        Long seconds = pod.getSpec().getTerminationGracePeriodSeconds();
        Duration own = seconds == null ? DEFAULT_GRACE : Durations.ofSeconds(seconds);
        Duration most = options.maxPodGracePeriod();
        return most.isNegative() || most.compareTo(own) > 0 ? own : most;
    }

    /**
     * Returns why a pod must not start under these pressures; empty if it may. Under memory pressure alone, refuses only
     * best-effort pods that do not tolerate its taint. Pure.
     */
    static Optional<PodRejection> rejection(Pod pod, Set<PressureType> pressures) {
        if (pressures.isEmpty() || CriticalPods.isCritical(pod)) {
            return Optional.empty();
        }
        boolean onlyMemory = pressures.equals(Set.of(PressureType.MEMORY));
        if (onlyMemory && (!QosClass.of(pod).equals("BestEffort") || toleratesMemoryPressure(pod))) {
            return Optional.empty();
        }
        String conditions = pressures.stream().map(PressureType::condition).collect(Collectors.joining(" "));
        return Optional.of(new PodRejection(Eviction.REASON, "The node had condition: [" + conditions + "]. "));
    }

    private static boolean toleratesMemoryPressure(Pod pod) {
        List<Toleration> tolerations = Objects.requireNonNullElse(pod.getSpec().getTolerations(), List.of());
        return tolerations.stream().anyMatch(EvictionPolicy::toleratesMemoryPressure);
    }

    /** The taint has no value, and the effect NoSchedule. */
    private static boolean toleratesMemoryPressure(Toleration toleration) {
        String effect = Objects.requireNonNullElse(toleration.getEffect(), "");
        String key = Objects.requireNonNullElse(toleration.getKey(), "");
        String value = Objects.requireNonNullElse(toleration.getValue(), "");
        boolean exists = "Exists".equals(toleration.getOperator());
        return (effect.isEmpty() || effect.equals("NoSchedule"))
                && (key.equals(MEMORY_TAINT) || (key.isEmpty() && exists))
                && (exists || value.isEmpty());
    }
}
