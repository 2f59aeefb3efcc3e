package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The hard eviction thresholds of a node: below them it says that it is under pressure, and what they keep free is
 * not allocatable. Immutable. After upstream's {@code ParseThresholdConfig}, without soft thresholds and minimum
 * reclaims: nothing is evicted here.
 */
public final class EvictionThresholds {

    private static final EvictionThresholds DEFAULTS = new EvictionThresholds(parsed(ImmutableMap.of(
            "memory.available", "100Mi",
            "nodefs.available", "10%",
            "nodefs.inodesFree", "5%",
            "imagefs.available", "15%",
            "imagefs.inodesFree", "5%")));

    /** A signal that is switched off is there without a threshold, so that merging with the defaults keeps it off. */
    private final ImmutableMap<EvictionSignal, Optional<EvictionThreshold>> thresholds;

    private EvictionThresholds(ImmutableMap<EvictionSignal, Optional<EvictionThreshold>> thresholds) {
        this.thresholds = thresholds;
    }

    /** The kubelet's on Linux, which hold where {@code evictionHard} is not configured at all. */
    public static EvictionThresholds defaults() {
        return DEFAULTS;
    }

    /**
     * Reads {@code evictionHard}, such as {@code memory.available: 200Mi}; {@code 0%} and {@code 100%} switch a signal
     * off. It replaces the {@linkplain #defaults() defaults} as a whole: no entries mean no thresholds.
     *
     * @throws IllegalArgumentException if there is no such signal, or a value is neither a
     *     positive quantity nor a percentage
     */
    public static EvictionThresholds parse(Map<String, String> evictionHard) {
        return new EvictionThresholds(parsed(evictionHard));
    }

    /**
     * These, and the {@linkplain #defaults() defaults} for signals that these do not mention:
     * mergeDefaultEvictionSettings.
     */
    public EvictionThresholds mergedWithDefaults() {
        EnumMap<EvictionSignal, Optional<EvictionThreshold>> merged = new EnumMap<>(DEFAULTS.thresholds);
        merged.putAll(thresholds);
        return new EvictionThresholds(Maps.immutableEnumMap(merged));
    }

    private static ImmutableMap<EvictionSignal, Optional<EvictionThreshold>> parsed(Map<String, String> evictionHard) {
        EnumMap<EvictionSignal, Optional<EvictionThreshold>> parsed = new EnumMap<>(EvictionSignal.class);
        evictionHard.forEach((name, value) -> {
            EvictionSignal signal = EvictionSignal.named(name);
            parsed.put(signal, EvictionThreshold.parse(signal, value));
        });
        return Maps.immutableEnumMap(parsed);
    }

    /** The threshold of a signal; empty if it has none. */
    public Optional<EvictionThreshold> of(EvictionSignal signal) {
        return Objects.requireNonNullElse(thresholds.get(signal), Optional.empty());
    }

    /** Such as {@code {memory.available=100Mi}}. */
    @Override
    public String toString() {
        return Maps.transformValues(
                        thresholds,
                        value -> value.map(EvictionThreshold::toString).orElse("off"))
                .toString();
    }
}
