package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;
import dev.podcache.object.NotApi;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Eviction thresholds of a node, one for each signal at most. Below a threshold, the node reports pressure. The amounts
 * that hard thresholds keep free are not allocatable. Immutable. After upstream's {@code ParseThresholdConfig}.
 */
public final class EvictionThresholds {

    private static final Logger log = LoggerFactory.getLogger(EvictionThresholds.class);

    private static final EvictionThresholds DEFAULTS = new EvictionThresholds(parsed(ImmutableMap.of(
            "memory.available", "100Mi",
            "nodefs.available", "10%",
            "nodefs.inodesFree", "5%",
            "imagefs.available", "15%",
            "imagefs.inodesFree", "5%")));

    /** No thresholds. */
    static final EvictionThresholds NONE = new EvictionThresholds(ImmutableMap.of());

    /** A disabled signal has an empty value, so that merging with the defaults keeps it disabled. */
    private final ImmutableMap<EvictionSignal, Optional<ThresholdValue>> thresholds;

    private EvictionThresholds(ImmutableMap<EvictionSignal, Optional<ThresholdValue>> thresholds) {
        this.thresholds = thresholds;
    }

    /** Returns the kubelet's defaults on Linux, which apply if {@code evictionHard} is not configured. */
    public static EvictionThresholds defaults() {
        return DEFAULTS;
    }

    /**
     * Parses {@code evictionHard}, such as {@code memory.available: 200Mi}. {@code 0%} and {@code 100%} disable a
     * signal. The {@linkplain #defaults() defaults} do not apply: an empty map means no thresholds. A threshold of {@code
     * containerfs} or {@code allocatableMemory} is ignored with a warning, because it follows another one.
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
        EnumMap<EvictionSignal, Optional<ThresholdValue>> merged = new EnumMap<>(DEFAULTS.thresholds);
        merged.putAll(thresholds);
        return new EvictionThresholds(Maps.immutableEnumMap(merged));
    }

    private static ImmutableMap<EvictionSignal, Optional<ThresholdValue>> parsed(Map<String, String> evictionHard) {
        EnumMap<EvictionSignal, Optional<ThresholdValue>> parsed = new EnumMap<>(EvictionSignal.class);
        evictionHard.forEach((name, value) -> {
            EvictionSignal signal = EvictionSignal.named(name);
            Optional<ThresholdValue> threshold = ThresholdValue.parse(signal, value);
            if (signal.isDerived()) {
                log.warn("found {} among the eviction thresholds; ignoring it: it follows another threshold", signal);
            } else {
                parsed.put(signal, threshold);
            }
        });
        return Maps.immutableEnumMap(parsed);
    }

    /**
     * Returns the threshold of {@code signal}; empty if it has none or is disabled.
     *
     * @hidden
     */
    @NotApi
    public Optional<ThresholdValue> of(EvictionSignal signal) {
        return Objects.requireNonNullElse(thresholds.get(signal), Optional.empty());
    }

    /** Returns the threshold of each signal that has one, by its name. */
    ImmutableMap<String, String> fields() {
        return signals().stream()
                .collect(ImmutableMap.toImmutableMap(
                        EvictionSignal::toString,
                        signal -> of(signal).orElseThrow().toString()));
    }

    /** Returns the signals that have a threshold, in the order of their declaration. */
    ImmutableSet<EvictionSignal> signals() {
        return thresholds.keySet().stream()
                .filter(signal -> of(signal).isPresent())
                .collect(ImmutableSet.toImmutableSet());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EvictionThresholds others && thresholds.equals(others.thresholds);
    }

    @Override
    public int hashCode() {
        return thresholds.hashCode();
    }

    /** Returns the thresholds by signal, such as {@code {memory.available=100Mi}}. */
    @Override
    public String toString() {
        return Maps.transformValues(
                        thresholds, value -> value.map(ThresholdValue::toString).orElse("off"))
                .toString();
    }
}
