package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The hard eviction thresholds of a node. Below a threshold, the node reports pressure. The amounts that they keep free
 * are not allocatable. Immutable. After upstream's {@code ParseThresholdConfig}, without soft thresholds and minimum
 * reclaims: this package evicts no pods.
 */
public final class EvictionThresholds {

    private static final EvictionThresholds DEFAULTS = new EvictionThresholds(parsed(ImmutableMap.of(
            "memory.available", "100Mi",
            "nodefs.available", "10%",
            "nodefs.inodesFree", "5%",
            "imagefs.available", "15%",
            "imagefs.inodesFree", "5%")));

    /** A disabled signal has an empty value, so that merging with the defaults keeps it disabled. */
    private final ImmutableMap<EvictionSignal, Optional<EvictionThreshold>> thresholds;

    private EvictionThresholds(ImmutableMap<EvictionSignal, Optional<EvictionThreshold>> thresholds) {
        this.thresholds = thresholds;
    }

    /** Returns the kubelet's defaults on Linux, which apply if {@code evictionHard} is not configured. */
    public static EvictionThresholds defaults() {
        return DEFAULTS;
    }

    /**
     * Parses {@code evictionHard}, such as {@code memory.available: 200Mi}. {@code 0%} and {@code 100%} disable a
     * signal. The {@linkplain #defaults() defaults} do not apply: an empty map means no thresholds.
     *
     * @throws IllegalArgumentException if a signal does not exist, or a value is neither a positive quantity nor a
     *     percentage from 0 to 100
     */
    public static EvictionThresholds parse(Map<String, String> evictionHard) {
        return new EvictionThresholds(parsed(evictionHard));
    }

    /**
     * Returns these thresholds, with the {@linkplain #defaults() default} for each signal that they do not mention.
     * After upstream's mergeDefaultEvictionSettings.
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

    /** Returns the threshold of {@code signal}; empty if it has none or is disabled. */
    public Optional<EvictionThreshold> of(EvictionSignal signal) {
        return Objects.requireNonNullElse(thresholds.get(signal), Optional.empty());
    }

    /** Returns the thresholds by signal, such as {@code {memory.available=100Mi}}. */
    @Override
    public String toString() {
        return Maps.transformValues(
                        thresholds,
                        value -> value.map(EvictionThreshold::toString).orElse("off"))
                .toString();
    }
}
