package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a node and its pods use at one time. Immutable.
 *
 * @param supplies the capacity and the available amount of each signal; without those that could not be read
 * @param usage of each pod that was measured, by UID
 * @param pods of when {@code usage} is
 */
record Measurement(
        ImmutableMap<EvictionSignal, Supply> supplies,
        ImmutableMap<String, PodUsage> usage,
        StorageLayout layout,
        PodFigures pods) {

    static Measurement of(Map<EvictionSignal, Supply> supplies, List<PodUsage> usage, StorageLayout layout) {
        ImmutableMap.Builder<String, PodUsage> byUid = ImmutableMap.builder();
        usage.forEach(pod -> byUid.put(pod.pod().uid(), pod));
        return new Measurement(Maps.immutableEnumMap(supplies), byUid.buildKeepingLast(), layout, PodFigures.NEW);
    }

    Measurement withoutPods() {
        return new Measurement(supplies, ImmutableMap.of(), layout, PodFigures.NONE);
    }

    /** Returns this measurement, with the pods' usage being that of an earlier one. */
    Measurement withOldPods() {
        return new Measurement(supplies, usage, layout, PodFigures.OLD);
    }

    Optional<Supply> supply(EvictionSignal signal) {
        return Optional.ofNullable(supplies.get(signal));
    }

    Optional<PodUsage> usage(Pod pod) {
        return Optional.ofNullable(usage.get(pod.getMetadata().getUid()));
    }
}
