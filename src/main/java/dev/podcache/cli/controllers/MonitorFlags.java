package dev.podcache.cli.controllers;

import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import java.time.Duration;
import picocli.CommandLine.Option;

/** The flags of the node lifecycle controller, spelled as kube-controller-manager does. */
final class MonitorFlags {

    @Option(
            names = "--node-monitor-period",
            paramLabel = "DURATION",
            description = "the pause between two looks at all nodes; default: 5s")
    private Duration period = NodeLifecycleOptions.DEFAULT.monitorPeriod();

    @Option(
            names = "--node-monitor-grace-period",
            paramLabel = "DURATION",
            description = "how long a node may be silent before it is Unknown; default: 50s (40s before Kubernetes"
                    + " 1.32)")
    private Duration gracePeriod = NodeLifecycleOptions.DEFAULT.monitorGracePeriod();

    @Option(
            names = "--node-startup-grace-period",
            paramLabel = "DURATION",
            description = "how long a new node may be silent; default: 1m")
    private Duration startupGracePeriod = NodeLifecycleOptions.DEFAULT.startupGracePeriod();

    @Option(
            names = "--node-eviction-rate",
            paramLabel = "N",
            description = "the nodes in a second, for each zone, whose pods are evicted; default: 0.1")
    private double evictionRate = NodeLifecycleOptions.DEFAULT.evictionRate();

    @Option(
            names = "--secondary-node-eviction-rate",
            paramLabel = "N",
            description = "as --node-eviction-rate, while a large zone is partly disrupted; default: 0.01")
    private double secondaryEvictionRate = NodeLifecycleOptions.DEFAULT.secondaryEvictionRate();

    @Option(
            names = "--large-cluster-size-threshold",
            paramLabel = "N",
            description = "a partly disrupted zone of at most N nodes has no evictions; default: 50")
    private int largeClusterSizeThreshold = NodeLifecycleOptions.DEFAULT.largeClusterSizeThreshold();

    @Option(
            names = "--unhealthy-zone-threshold",
            paramLabel = "N",
            description =
                    "the share of nodes that are not Ready from which on a zone is partly disrupted; default: 0.55")
    private double unhealthyZoneThreshold = NodeLifecycleOptions.DEFAULT.unhealthyZoneThreshold();

    /**
     * Returns the options.
     *
     * @throws IllegalArgumentException if a flag is out of range; the message names it and its value
     */
    NodeLifecycleOptions options() {
        return NodeLifecycleOptions.DEFAULT
                .monitorPeriod(period)
                .monitorGracePeriod(gracePeriod)
                .startupGracePeriod(startupGracePeriod)
                .evictionRate(evictionRate)
                .secondaryEvictionRate(secondaryEvictionRate)
                .largeClusterSizeThreshold(largeClusterSizeThreshold)
                .unhealthyZoneThreshold(unhealthyZoneThreshold);
    }
}
