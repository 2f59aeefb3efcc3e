package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Maps;
import dev.podcache.object.Quoted;
import dev.podcache.time.Durations;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * When a node evicts pods, with the kubelet's options and defaults. Immutable. Each method that sets an option returns a
 * copy.
 */
public final class EvictionOptions {

    private static final Duration TRANSITION = Duration.ofMinutes(5);
    private static final String PODS = "pods";
    private static final String NONE = "none";
    private static final ImmutableSet<String> ENFORCEABLE = ImmutableSet.of(
            PODS,
            "system-reserved",
            "system-reserved-compressible",
            "kube-reserved",
            "kube-reserved-compressible",
            NONE);

    private static final EvictionOptions DEFAULTS = new EvictionOptions(
            EvictionThresholds.defaults(),
            new Soft(EvictionThresholds.NONE, ImmutableMap.of(), Duration.ZERO),
            ImmutableMap.of(),
            new EvictionRules(TRANSITION, true, ImmutableSet.of(PODS)));

    private final EvictionThresholds hard;
    private final Soft soft;
    private final ImmutableMap<EvictionSignal, ThresholdValue> minimumReclaim;
    private final EvictionRules rules;

    /** The soft thresholds, the grace period of each, and the longest grace period of a pod that is evicted for them. */
    private record Soft(
            EvictionThresholds thresholds,
            ImmutableMap<EvictionSignal, Duration> gracePeriods,
            Duration maxPodGracePeriod) {}

    /** What counts for all thresholds. */
    private record EvictionRules(Duration transition, boolean localStorageLimits, ImmutableSet<String> enforced) {}

    private EvictionOptions(
            EvictionThresholds hard,
            Soft soft,
            ImmutableMap<EvictionSignal, ThresholdValue> minimumReclaim,
            EvictionRules rules) {
        this.hard = hard;
        this.soft = soft;
        this.minimumReclaim = minimumReclaim;
        this.rules = rules;
    }

    /** Returns the kubelet's defaults: its default hard thresholds, no soft thresholds, a transition of 5 min. */
    public static EvictionOptions defaults() {
        return DEFAULTS;
    }

    /** Sets the hard thresholds, {@code evictionHard}, which evict at once. Default: the kubelet's. */
    public EvictionOptions withHard(EvictionThresholds thresholds) {
        return new EvictionOptions(thresholds, soft, minimumReclaim, rules);
    }

    /**
     * Sets the soft thresholds, {@code evictionSoft}, which evict after their grace periods, {@code
     * evictionSoftGracePeriod}. Default: none.
     *
     * @param gracePeriods by signal, such as {@code memory.available}
     * @throws IllegalArgumentException if a signal does not exist, a threshold has no grace period, or one is negative
     */
    public EvictionOptions withSoft(EvictionThresholds thresholds, Map<String, Duration> gracePeriods) {
        EnumMap<EvictionSignal, Duration> parsed = new EnumMap<>(EvictionSignal.class);
        gracePeriods.forEach((name, period) -> {
            EvictionSignal signal = EvictionSignal.named(name);
            if (period.isNegative()) {
                throw new IllegalArgumentException("invalid eviction grace period specified: " + Durations.text(period)
                        + " of " + signal + ", must be a positive value");
            }
            parsed.put(signal, period);
        });
        for (EvictionSignal signal : thresholds.signals()) {
            if (!parsed.containsKey(signal)) {
                throw new IllegalArgumentException("grace period must be specified for the soft eviction threshold "
                        + signal + ": add it to evictionSoftGracePeriod");
            }
        }
        Soft changed = new Soft(thresholds, Maps.immutableEnumMap(parsed), soft.maxPodGracePeriod);
        return new EvictionOptions(hard, changed, minimumReclaim, rules);
    }

    /**
     * Sets the longest grace period of a pod that is evicted for a soft threshold, {@code evictionMaxPodGracePeriod}. It
     * never lengthens the pod's own. Default: 0, as in a kubelet.
     *
     * @param period negative for the pod's own
     */
    public EvictionOptions withMaxPodGracePeriod(Duration period) {
        Soft changed = new Soft(soft.thresholds, soft.gracePeriods, period);
        return new EvictionOptions(hard, changed, minimumReclaim, rules);
    }

    /**
     * Sets what must be available in addition to a threshold before evictions end, {@code evictionMinimumReclaim}, by
     * signal. Default: nothing.
     *
     * @throws IllegalArgumentException if a signal does not exist, or a value is negative or neither a quantity nor a
     *     percentage
     */
    public EvictionOptions withMinimumReclaim(Map<String, String> values) {
        EnumMap<EvictionSignal, ThresholdValue> parsed = new EnumMap<>(EvictionSignal.class);
        values.forEach((name, value) -> {
            EvictionSignal signal = EvictionSignal.named(name);
            parsed.put(signal, ThresholdValue.parseReclaim(signal, value));
        });
        return new EvictionOptions(hard, soft, Maps.immutableEnumMap(parsed), rules);
    }

    /**
     * Sets how long the node reports pressure after it was last seen, {@code evictionPressureTransitionPeriod}. Default: 5
     * min.
     *
     * @throws IllegalArgumentException if {@code period} is negative
     */
    public EvictionOptions withPressureTransition(Duration period) {
        if (period.isNegative()) {
            throw new IllegalArgumentException(
                    "evictionPressureTransitionPeriod must not be negative, but is " + Durations.text(period));
        }
        return with(new EvictionRules(period, rules.localStorageLimits, rules.enforced));
    }

    /**
     * Sets whether a pod is evicted that exceeds its limit of ephemeral storage or the size limit of an {@code emptyDir},
     * {@code localStorageCapacityIsolation}. Without it, the node offers no ephemeral storage. Default: true.
     */
    public EvictionOptions withLocalStorageLimits(boolean enforced) {
        return with(new EvictionRules(rules.transition, enforced, rules.enforced));
    }

    /**
     * Sets for whom the allocatable resources of the node are a limit, {@code enforceNodeAllocatable}. With {@code pods},
     * the hard threshold of memory counts for the memory of all pods too. The other values are about control groups and
     * have no effect here. Default: {@code pods}.
     *
     * @param values of a kubelet, such as {@code pods} and {@code system-reserved}; {@code none} alone or nothing for
     *     nobody
     * @throws IllegalArgumentException if a value is none of a kubelet's
     */
    public EvictionOptions withEnforceNodeAllocatable(Collection<String> values) {
        for (String value : values) {
            if (!ENFORCEABLE.contains(value)) {
                throw new IllegalArgumentException("enforceNodeAllocatable must be some of "
                        + String.join(", ", ENFORCEABLE) + ", but one is " + Quoted.value(value));
            }
        }
        if (values.contains(NONE) && values.size() > 1) {
            throw new IllegalArgumentException("enforceNodeAllocatable must be none alone, or without none");
        }
        return with(new EvictionRules(rules.transition, rules.localStorageLimits, ImmutableSet.copyOf(values)));
    }

    private EvictionOptions with(EvictionRules changed) {
        return new EvictionOptions(hard, soft, minimumReclaim, changed);
    }

    /** Returns the hard thresholds. */
    public EvictionThresholds hard() {
        return hard;
    }

    /** Returns how long the node reports pressure after it was last seen. */
    public Duration pressureTransition() {
        return rules.transition;
    }

    /** Returns whether a pod is evicted that exceeds a limit of local storage. */
    public boolean localStorageLimits() {
        return rules.localStorageLimits;
    }

    /** Returns for whom the allocatable resources of the node are a limit. */
    public Set<String> enforceNodeAllocatable() {
        return rules.enforced;
    }

    /** Returns the longest grace period of a pod that is evicted for a soft threshold; negative for the pod's own. */
    public Duration maxPodGracePeriod() {
        return soft.maxPodGracePeriod;
    }

    /** Returns all thresholds: the hard ones, the soft ones, and the hard one of memory for the memory of all pods. */
    ImmutableList<EvictionThreshold> thresholds() {
        ImmutableList.Builder<EvictionThreshold> all = ImmutableList.builder();
        for (EvictionSignal signal : hard.signals()) {
            all.add(threshold(signal, hard, Duration.ZERO));
        }
        for (EvictionSignal signal : soft.thresholds.signals()) {
            all.add(threshold(signal, soft.thresholds, soft.gracePeriods.getOrDefault(signal, Duration.ZERO)));
        }
        if (rules.enforced.contains(PODS)
                && hard.of(EvictionSignal.MEMORY_AVAILABLE).isPresent()) {
            all.add(threshold(EvictionSignal.MEMORY_AVAILABLE, hard, Duration.ZERO)
                    .withSignal(EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE));
        }
        return all.build();
    }

    private EvictionThreshold threshold(EvictionSignal signal, EvictionThresholds of, Duration gracePeriod) {
        return new EvictionThreshold(
                signal, of.of(signal).orElseThrow(), gracePeriod, Optional.ofNullable(minimumReclaim.get(signal)));
    }

    /** Returns the fields of a KubeletConfiguration with these options; unmodifiable. */
    public Map<String, Object> fields() {
        ImmutableMap.Builder<String, String> gracePeriods = ImmutableMap.builder();
        soft.gracePeriods.forEach((signal, period) -> gracePeriods.put(signal.toString(), Durations.text(period)));
        ImmutableMap.Builder<String, String> reclaim = ImmutableMap.builder();
        minimumReclaim.forEach((signal, value) -> reclaim.put(signal.toString(), value.toString()));
        return ImmutableMap.<String, Object>builder()
                .put("evictionHard", hard.fields())
                .put("evictionSoft", soft.thresholds.fields())
                .put("evictionSoftGracePeriod", gracePeriods.buildOrThrow())
                .put("evictionMinimumReclaim", reclaim.buildOrThrow())
                .put("evictionMaxPodGracePeriod", soft.maxPodGracePeriod.toSeconds())
                .put("evictionPressureTransitionPeriod", Durations.text(rules.transition))
                .put("localStorageCapacityIsolation", rules.localStorageLimits)
                .put("enforceNodeAllocatable", rules.enforced.asList())
                .buildOrThrow();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EvictionOptions options
                && hard.equals(options.hard)
                && soft.equals(options.soft)
                && minimumReclaim.equals(options.minimumReclaim)
                && rules.equals(options.rules);
    }

    @Override
    public int hashCode() {
        return hard.hashCode() + 31 * soft.hashCode();
    }

    @Override
    public String toString() {
        return "hard " + hard + ", soft " + soft.thresholds + " for " + soft.gracePeriods + ", minimum reclaim "
                + minimumReclaim + ", transition " + rules.transition;
    }
}
