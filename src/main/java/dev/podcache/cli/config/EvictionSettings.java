package dev.podcache.cli.config;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Range;
import dev.podcache.kubelet.eviction.EvictionOptions;
import dev.podcache.kubelet.eviction.EvictionThresholds;
import java.time.Duration;
import java.util.Map;
import picocli.CommandLine.TypeConversionException;

/** Creates the options of evictions from settings, with the kubelet's defaults for unset fields. */
final class EvictionSettings {

    private static final EvictionOptions DEFAULT = EvictionOptions.defaults();
    private static final Range<Integer> ANY = Range.closed(Integer.MIN_VALUE, Integer.MAX_VALUE);

    private EvictionSettings() {}

    static EvictionOptions of(Settings all) {
        EvictionOptions hard = all.list("enforceNodeAllocatable", DEFAULT::withEnforceNodeAllocatable, DEFAULT)
                .withHard(hard(all))
                .withPressureTransition(all.duration("evictionPressureTransitionPeriod", DEFAULT.pressureTransition()))
                .withMaxPodGracePeriod(Duration.ofSeconds(all.integer("evictionMaxPodGracePeriod", ANY, 0)))
                .withLocalStorageLimits(all.bool("localStorageCapacityIsolation", true));
        EvictionOptions reclaiming = all.map("evictionMinimumReclaim", hard::withMinimumReclaim, hard);
        Map<String, Duration> gracePeriods =
                all.map("evictionSoftGracePeriod", EvictionSettings::durations, ImmutableMap.of());
        return all.map(
                "evictionSoft", soft -> reclaiming.withSoft(EvictionThresholds.parse(soft), gracePeriods), reclaiming);
    }

    /** The value replaces all defaults, unless the file asks to merge them. A flag always replaces them. */
    private static EvictionThresholds hard(Settings all) {
        boolean merge = all.bool("mergeDefaultEvictionSettings", false);
        EvictionThresholds written = all.map("evictionHard", EvictionThresholds::parse, EvictionThresholds.defaults());
        Setting setting = all.find("evictionHard");
        return merge && setting != null && !setting.ofFlag() ? written.mergedWithDefaults() : written;
    }

    private static Map<String, Duration> durations(Map<String, String> texts) {
        ImmutableMap.Builder<String, Duration> durations = ImmutableMap.builder();
        texts.forEach((signal, text) -> durations.put(signal, duration(signal, text)));
        return durations.buildOrThrow();
    }

    private static Duration duration(String signal, String text) {
        if (text.equals("0") || text.equals("0s")) {
            return Duration.ZERO;
        }
        try {
            return new GoDuration().convert(text);
        } catch (TypeConversionException e) {
            throw new IllegalArgumentException(
                    "invalid eviction grace period specified: " + text + " of " + signal
                            + ", must be a positive value, such as 90s or 1m30s",
                    e);
        }
    }
}
