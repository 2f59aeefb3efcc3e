package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Sets;
import java.time.Duration;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Knows since when thresholds are met, and when each pressure was last seen. Not thread-safe; reads no clock.
 *
 * <p>A threshold that is due, which means met for its grace period, stays met until its minimum reclaim is available,
 * too. Pressure begins with any met threshold, whatever its grace period, and ends when none was met for the transition
 * period, so that it does not flap. Follows the first half of {@code synchronize} of the kubelet's {@code
 * eviction_manager.go}.
 */
final class ThresholdTracker {

    private final long transitionNanos;
    private List<EvictionThreshold> lastDue = List.of();
    private Map<EvictionThreshold, Long> firstMet = Map.of();
    private final Map<PressureType, Long> lastSeen = new EnumMap<>(PressureType.class);

    ThresholdTracker(Duration transition) {
        this.transitionNanos = transition.toNanos();
    }

    /**
     * What follows from a measurement.
     *
     * @param pressures what the node reports
     * @param due the thresholds for which resources must be reclaimed, those of memory first
     */
    record Assessment(ImmutableSet<PressureType> pressures, ImmutableList<EvictionThreshold> due) {}

    /**
     * Takes in a measurement.
     *
     * @param thresholds in the order of their configuration; those without a measured supply are ignored
     * @param now the time of the measurement in nanoseconds, not before that of the last call
     */
    Assessment assess(List<EvictionThreshold> thresholds, Measurement measurement, long now) {
        Set<EvictionThreshold> met = new LinkedHashSet<>();
        addIfMet(met, thresholds, measurement, false);
        addIfMet(met, lastDue, measurement, true);
        Map<EvictionThreshold, Long> since = new LinkedHashMap<>();
        met.forEach(threshold -> since.put(threshold, firstMet.getOrDefault(threshold, now)));
        firstMet = since;
        met.forEach(threshold -> lastSeen.put(threshold.signal().pressure(), now));
        ImmutableList<EvictionThreshold> due = since.entrySet().stream()
                .filter(each ->
                        now - each.getValue() >= each.getKey().gracePeriod().toNanos())
                .map(Map.Entry::getKey)
                .sorted(Comparator.comparing(threshold -> !threshold.signal().isMemory()))
                .collect(ImmutableList.toImmutableList());
        lastDue = due;
        return new Assessment(pressures(now), due);
    }

    private static void addIfMet(
            Set<EvictionThreshold> met,
            List<EvictionThreshold> thresholds,
            Measurement measurement,
            boolean withReclaim) {
        for (EvictionThreshold threshold : thresholds) {
            boolean isMet = measurement
                    .supply(threshold.signal())
                    .map(supply -> withReclaim ? threshold.isUnresolved(supply) : threshold.isMet(supply))
                    .orElse(false);
            if (isMet) {
                met.add(threshold);
            }
        }
    }

    private ImmutableSet<PressureType> pressures(long now) {
        EnumSet<PressureType> pressures = EnumSet.noneOf(PressureType.class);
        lastSeen.forEach((pressure, at) -> {
            if (now - at < transitionNanos) {
                pressures.add(pressure);
            }
        });
        return Sets.immutableEnumSet(pressures);
    }
}
