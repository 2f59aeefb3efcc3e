package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.time.Durations;
import java.time.Duration;

/**
 * The parameters of {@link NodeLifecycleController}, with the defaults of the newest kube-controller-manager. Immutable;
 * each method returns a changed copy.
 */
public final class NodeLifecycleOptions {

    /** The defaults of kube-controller-manager 1.32 and newer. */
    public static final NodeLifecycleOptions DEFAULT = new NodeLifecycleOptions();

    private Duration monitorPeriod = Duration.ofSeconds(5);
    private Duration monitorGracePeriod = Duration.ofSeconds(50);
    private Duration startupGracePeriod = Duration.ofSeconds(60);
    private double evictionRate = 0.1;
    private double secondaryEvictionRate = 0.01;
    private int largeClusterSizeThreshold = 50;
    private double unhealthyZoneThreshold = 0.55;

    private NodeLifecycleOptions() {}

    private NodeLifecycleOptions(NodeLifecycleOptions original) {
        monitorPeriod = original.monitorPeriod;
        monitorGracePeriod = original.monitorGracePeriod;
        startupGracePeriod = original.startupGracePeriod;
        evictionRate = original.evictionRate;
        secondaryEvictionRate = original.secondaryEvictionRate;
        largeClusterSizeThreshold = original.largeClusterSizeThreshold;
        unhealthyZoneThreshold = original.unhealthyZoneThreshold;
    }

    /**
     * Sets the pause between two passes over all nodes, counted from the end of a pass. Default: 5 s.
     *
     * @throws IllegalArgumentException unless positive
     */
    public NodeLifecycleOptions monitorPeriod(Duration value) {
        NodeLifecycleOptions copy = new NodeLifecycleOptions(this);
        copy.monitorPeriod = Durations.positive("--node-monitor-period", value);
        return copy;
    }

    /**
     * Sets how long a node may be silent before its condition Ready becomes Unknown. Must be several times the interval
     * between its heartbeats. Default: 50 s; 40 s before Kubernetes 1.32.
     *
     * @throws IllegalArgumentException unless positive
     */
    public NodeLifecycleOptions monitorGracePeriod(Duration value) {
        NodeLifecycleOptions copy = new NodeLifecycleOptions(this);
        copy.monitorGracePeriod = Durations.positive("--node-monitor-grace-period", value);
        return copy;
    }

    /**
     * Sets how long a new node may be silent, counted from its creation. Default: 60 s.
     *
     * @throws IllegalArgumentException unless positive
     */
    public NodeLifecycleOptions startupGracePeriod(Duration value) {
        NodeLifecycleOptions copy = new NodeLifecycleOptions(this);
        copy.startupGracePeriod = Durations.positive("--node-startup-grace-period", value);
        return copy;
    }

    /**
     * Sets how many nodes of a healthy zone get a NoExecute taint in a second. Default: 0.1.
     *
     * @throws IllegalArgumentException if negative or not a number
     */
    public NodeLifecycleOptions evictionRate(double value) {
        NodeLifecycleOptions copy = new NodeLifecycleOptions(this);
        copy.evictionRate = rate("--node-eviction-rate", value);
        return copy;
    }

    /**
     * Sets how many nodes of a large, partly disrupted zone get a NoExecute taint in a second. Default: 0.01.
     *
     * @throws IllegalArgumentException if negative or not a number
     */
    public NodeLifecycleOptions secondaryEvictionRate(double value) {
        NodeLifecycleOptions copy = new NodeLifecycleOptions(this);
        copy.secondaryEvictionRate = rate("--secondary-node-eviction-rate", value);
        return copy;
    }

    /**
     * Sets the number of nodes up to which a partly disrupted zone has no evictions at all. Default: 50.
     *
     * @throws IllegalArgumentException if negative
     */
    public NodeLifecycleOptions largeClusterSizeThreshold(int value) {
        NodeLifecycleOptions copy = new NodeLifecycleOptions(this);
        copy.largeClusterSizeThreshold = (int) rate("--large-cluster-size-threshold", value);
        return copy;
    }

    /**
     * Sets the share of nodes that are not Ready from which on a zone is partly disrupted. Default: 0.55.
     *
     * @throws IllegalArgumentException unless between 0 and 1
     */
    public NodeLifecycleOptions unhealthyZoneThreshold(double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException("--unhealthy-zone-threshold must be between 0 and 1, but is " + value);
        }
        NodeLifecycleOptions copy = new NodeLifecycleOptions(this);
        copy.unhealthyZoneThreshold = value;
        return copy;
    }

    public Duration monitorPeriod() {
        return monitorPeriod;
    }

    public Duration monitorGracePeriod() {
        return monitorGracePeriod;
    }

    public Duration startupGracePeriod() {
        return startupGracePeriod;
    }

    public double evictionRate() {
        return evictionRate;
    }

    public double secondaryEvictionRate() {
        return secondaryEvictionRate;
    }

    public int largeClusterSizeThreshold() {
        return largeClusterSizeThreshold;
    }

    public double unhealthyZoneThreshold() {
        return unhealthyZoneThreshold;
    }

    /**
     * Returns how many nodes a second get a NoExecute taint while some nodes of a cluster with one zone are not Ready; 0 for
     * none.
     *
     * @param nodes all nodes of the cluster
     * @param notReady those that are not Ready
     */
    public double evictionRate(int nodes, int notReady) {
        ZoneState state = ZoneState.of(nodes - notReady, notReady, unhealthyZoneThreshold);
        return state == ZoneState.FULL_DISRUPTION ? 0 : evictionRate(state, nodes);
    }

    /** Returns how many nodes a second get a NoExecute taint in a zone of {@code nodes} nodes; 0 for none. */
    double evictionRate(ZoneState state, int nodes) {
        if (state != ZoneState.PARTIAL_DISRUPTION) {
            return evictionRate;
        }
        return nodes > largeClusterSizeThreshold ? secondaryEvictionRate : 0;
    }

    private static double rate(String flag, double value) {
        if (!(value >= 0 && value < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(flag + " must not be negative, but is " + value);
        }
        return value;
    }
}
