package dev.podcache.cli.config;

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.eviction.EvictionOptions;
import dev.podcache.kubelet.eviction.EvictionSignal;
import dev.podcache.kubelet.staticpods.StaticPodFiles;
import dev.podcache.time.Durations;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Shows every setting of an agent with its value and where that comes from. */
final class EffectiveSettings {

    private static final String NONE = "-";

    private final Settings all;
    private final ImmutableMap<String, String> values;

    /**
     * One line of the output.
     *
     * @param source the flag, the file with its line, or {@code default}
     */
    record SettingLine(String field, String value, String source) {}

    private EffectiveSettings(Settings all, ImmutableMap<String, String> values) {
        this.all = all;
        this.values = values;
    }

    /** Returns the settings that {@link KubeletSettings#configuration} makes {@code configuration} from. */
    static ImmutableList<SettingLine> of(Settings file, Settings flags, KubeletConfiguration configuration) {
        Settings all = flags.orElse(file);
        EffectiveSettings settings = new EffectiveSettings(all, values(configuration, all));
        ImmutableSet<String> fields = ImmutableSet.<String>builder()
                .addAll(Arrays.stream(ConfigurationKind.values())
                        .flatMap(kind -> kind.honoured().stream())
                        .collect(ImmutableSet.toImmutableSet()))
                .addAll(settings.all.fields().keySet())
                .build();
        return fields.stream().map(settings::line).collect(ImmutableList.toImmutableList());
    }

    private SettingLine line(String field) {
        Setting setting = all.find(field);
        String computed = values.get(field);
        String value = computed != null ? computed : setting == null ? byDefault(field) : text(setting.value());
        return new SettingLine(field, value, setting == null ? "default" : source(setting));
    }

    private static String byDefault(String field) {
        // not computed: the thresholds show its effect
        return field.equals("mergeDefaultEvictionSettings") ? "false" : NONE;
    }

    private static String source(Setting setting) {
        return setting.ofFlag()
                ? setting.where()
                : setting.where().replaceFirst("^configuration ", "").replaceFirst(": [^:]*$", "");
    }

    private static String text(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream()
                    .map(entry -> entry.getKey() + "=" + text(entry.getValue()))
                    .collect(Collectors.joining(","));
        }
        if (value instanceof List<?> list) {
            return list.stream().map(EffectiveSettings::text).collect(Collectors.joining(" "));
        }
        return value instanceof Duration duration ? Durations.text(duration) : value.toString();
    }

    /** Returns what was computed from defaults, or from several fields. */
    private static ImmutableMap<String, String> values(KubeletConfiguration configuration, Settings all) {
        ImmutableMap.Builder<String, String> values = ImmutableMap.builder();
        values.put(
                KubeletSettings.STRATEGY,
                StrategyNames.of(configuration.caching().strategy()));
        putDurations(values, configuration, all);
        values.put("nodeLeaseDurationSeconds", "" + configuration.heartbeats().leaseSeconds());
        values.put("kubeAPIQPS", "" + (long) configuration.rates().perSecond());
        values.put("kubeAPIBurst", "" + configuration.rates().burst());
        values.put("registerNode", "" + configuration.registration().register());
        values.put(
                "nodeLabels",
                dash(Joiner.on(',')
                        .withKeyValueSeparator('=')
                        .join(configuration.registration().labels())));
        values.put("clusterDomain", dash(configuration.clusterDomain()));
        values.put("maxPods", "" + configuration.reservations().maxPods());
        values.put("podsPerCore", "" + configuration.reservations().podsPerCore());
        long budget = configuration.caching().payloadBudget();
        putEviction(values, configuration.eviction());
        values.put("payloadBudget", budget == Long.MAX_VALUE ? NONE : budget + " bytes");
        KubeletConfiguration.Endpoint endpoint = configuration.endpoint();
        values.put("enableServer", "" + endpoint.enabled());
        values.put("address", endpoint.address());
        values.put("port", "" + endpoint.port());
        values.put("tlsCertFile", dash(endpoint.certificate()));
        values.put("tlsPrivateKeyFile", dash(endpoint.key()));
        values.put(KubeletSettings.ROTATE, "" + KubeletSettings.rotatesCertificates(all));
        values.put("healthzBindAddress", configuration.health().address());
        values.put("healthzPort", "" + configuration.health().port());
        return values.buildOrThrow();
    }

    private static void putEviction(ImmutableMap.Builder<String, String> values, EvictionOptions eviction) {
        values.put(
                "evictionHard",
                dash(Arrays.stream(EvictionSignal.values())
                        .flatMap(signal -> eviction.hard().of(signal).stream().map(value -> signal + "=" + value))
                        .collect(Collectors.joining(","))));
        values.put(
                "evictionMaxPodGracePeriod", "" + eviction.maxPodGracePeriod().toSeconds());
        values.put("localStorageCapacityIsolation", "" + eviction.localStorageLimits());
        values.put("enforceNodeAllocatable", String.join(" ", eviction.enforceNodeAllocatable()));
    }

    private static void putDurations(
            ImmutableMap.Builder<String, String> values, KubeletConfiguration configuration, Settings all) {
        values.put("syncFrequency", Durations.text(configuration.caching().syncFrequency()));
        values.put(
                "fileCheckFrequency",
                Durations.text(all.duration("fileCheckFrequency", StaticPodFiles.DEFAULT_FREQUENCY)));
        values.put(
                KubeletSettings.RESTARTS,
                KubeletSettings.RESTART_PERIOD + "="
                        + Durations.text(configuration.restarts().longest()));
        values.put("readTimeout", Durations.text(configuration.caching().readTimeout()));
        values.put("firstSyncTimeout", Durations.text(configuration.caching().firstSyncTimeout()));
        values.put("backgroundRefresh", Durations.text(configuration.caching().backgroundRefresh()));
        values.put(
                "nodeStatusUpdateFrequency",
                Durations.text(configuration.heartbeats().statusUpdate()));
        values.put(
                "nodeStatusReportFrequency",
                Durations.text(configuration.heartbeats().statusReport()));
        values.put(
                "evictionPressureTransitionPeriod",
                Durations.text(configuration.eviction().pressureTransition()));
    }

    private static String dash(String text) {
        return text.isEmpty() ? NONE : text;
    }
}
