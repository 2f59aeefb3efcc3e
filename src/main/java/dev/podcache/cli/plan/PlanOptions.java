package dev.podcache.cli.plan;

import dev.podcache.cli.config.StrategyNames;
import dev.podcache.controlplane.planner.PlanSettings;
import dev.podcache.controlplane.planner.TuningProfile;
import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of {@code plan} that describe the cluster. */
final class PlanOptions {

    private static final String ALL = "all";

    @Option(names = "--nodes", paramLabel = "N", description = "the number of nodes; default: 1000")
    int nodes = 1_000;

    @Option(names = "--pods-per-node", paramLabel = "N", description = "the pods of each node; default: 30")
    int podsPerNode = 30;

    @Option(names = "--secrets-per-pod", paramLabel = "N", description = "the Secrets of each pod; default: 1")
    int secretsPerPod = 1;

    @Option(names = "--config-maps-per-pod", paramLabel = "N", description = "the ConfigMaps of each pod; default: 1")
    int configMapsPerPod = 1;

    @Option(
            names = "--changes-per-hour",
            paramLabel = "N",
            description = "how often each Secret and ConfigMap changes; default: 0.1")
    double changesPerHour = 0.1;

    @Option(
            names = "--pod-lifetime",
            paramLabel = "DURATION",
            description = "how long a pod lives before another one replaces it; default: 24h")
    Duration podLifetime = Duration.ofDays(1);

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            description = "default, fast, medium, low, or all of them side by side; default: all")
    String profile = ALL;

    @Option(
            names = "--node-status-update-frequency",
            paramLabel = "DURATION",
            description = "the kubelet's; default: as the profile says")
    @Nullable
    Duration statusUpdate;

    @Option(
            names = "--node-status-report-frequency",
            paramLabel = "DURATION",
            description = "the kubelet's, for an unchanged status; default: 5m")
    @Nullable
    Duration statusReport;

    @Option(
            names = "--node-lease-duration",
            paramLabel = "DURATION",
            description = "the kubelet's, in whole seconds; renewed after a quarter of it; default: 40s")
    @Nullable
    Duration leaseDuration;

    @Option(
            names = "--node-monitor-period",
            paramLabel = "DURATION",
            description = "the controller manager's; default: as the profile says")
    @Nullable
    Duration monitorPeriod;

    @Option(
            names = "--node-monitor-grace-period",
            paramLabel = "DURATION",
            description = "the controller manager's; default: as the profile says")
    @Nullable
    Duration grace;

    @Option(
            names = "--toleration",
            paramLabel = "DURATION",
            description = "how long pods tolerate an unreachable node; default: as the profile says")
    @Nullable
    Duration toleration;

    @Option(
            names = "--failing-nodes",
            paramLabel = "N",
            description = "the nodes of one zone that die at the same time; default: 1")
    int failingNodes = 1;

    @Option(
            names = "--strategy",
            paramLabel = "STRATEGY",
            completionCandidates = StrategyNames.class,
            description = "how agents detect changes: Watch (the default), Cache or Get")
    ChangeDetectionStrategy strategy = ChangeDetectionStrategy.WATCH;

    @Option(
            names = "--ttl",
            paramLabel = "DURATION",
            description = "the TTL under Cache; default: what the TTL controller sets for so many nodes")
    @Nullable
    Duration ttl;

    @Option(
            names = "--http2-max-streams-per-connection",
            paramLabel = "N",
            description = "the API server's; default: 100")
    int streamLimit = 100;

    /**
     * Returns the settings of each profile.
     *
     * @throws IllegalArgumentException if an option has an illegal value; the message says which and what is legal
     */
    List<PlanSettings> settings() {
        List<TuningProfile> chosen = TuningProfile.ALL.stream()
                .filter(each -> profile.equals(ALL) || profile.equals(each.name()))
                .toList();
        if (chosen.isEmpty()) {
            throw new IllegalArgumentException(
                    "--profile is '" + profile + "': write default, fast, medium, low or all");
        }
        return chosen.stream().map(this::settings).toList();
    }

    private PlanSettings settings(TuningProfile base) {
        PlanSettings.Builder settings = PlanSettings.builder(nodes)
                .podsPerNode(podsPerNode)
                .objectsPerPod(secretsPerPod, configMapsPerPod)
                .changesPerHour(changesPerHour)
                .podLifetime(podLifetime)
                .failingNodes(failingNodes)
                .strategy(strategy)
                .streamLimit(streamLimit)
                .ttl(ttl)
                .profile(new TuningProfile(
                        base.name(),
                        or(statusUpdate, base.statusUpdate()),
                        or(monitorPeriod, base.monitorPeriod()),
                        or(grace, base.grace()),
                        or(toleration, base.eviction())));
        if (statusReport != null) {
            settings.statusReport(statusReport);
        }
        if (leaseDuration != null) {
            settings.leaseDuration(leaseDuration);
        }
        return settings.build();
    }

    private static Duration or(@Nullable Duration given, Duration otherwise) {
        return given == null ? otherwise : given;
    }
}
