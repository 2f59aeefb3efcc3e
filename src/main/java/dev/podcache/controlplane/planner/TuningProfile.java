package dev.podcache.controlplane.planner;

import com.google.common.collect.ImmutableList;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import dev.podcache.kubelet.nodestatus.NodeStatusOptions;
import dev.podcache.time.Durations;
import java.time.Duration;
import java.util.Objects;

/**
 * Four times that decide how soon a cluster notices a dead node and evicts its pods, and what the heartbeats cost.
 * Immutable.
 *
 * @param name one word
 * @param statusUpdate the kubelet's {@code nodeStatusUpdateFrequency}
 * @param monitorPeriod the controller manager's {@code --node-monitor-period}
 * @param grace the controller manager's {@code --node-monitor-grace-period}: the time without a heartbeat after which a
 *     node is Unknown
 * @param eviction how long pods tolerate that their node is unreachable: the API server's {@code
 *     --default-unreachable-toleration-seconds}
 */
public record TuningProfile(
        String name, Duration statusUpdate, Duration monitorPeriod, Duration grace, Duration eviction) {

    /** Kubernetes' defaults from 1.32 on. Before, the grace period was 40 s. */
    public static final TuningProfile DEFAULT = new TuningProfile(
            "default",
            NodeStatusOptions.DEFAULT_UPDATE_FREQUENCY,
            NodeLifecycleOptions.DEFAULT.monitorPeriod(),
            NodeLifecycleOptions.DEFAULT.monitorGracePeriod(),
            Duration.ofMinutes(5));

    /** Fast update and fast reaction. */
    public static final TuningProfile FAST = new TuningProfile(
            "fast", Duration.ofSeconds(4), Duration.ofSeconds(2), Duration.ofSeconds(20), Duration.ofSeconds(30));

    /** Medium update and average reaction. */
    public static final TuningProfile MEDIUM = new TuningProfile(
            "medium", Duration.ofSeconds(20), Duration.ofSeconds(5), Duration.ofMinutes(2), Duration.ofMinutes(1));

    /** Low update and slow reaction. */
    public static final TuningProfile LOW = new TuningProfile(
            "low", Duration.ofMinutes(1), Duration.ofSeconds(5), Duration.ofMinutes(5), Duration.ofMinutes(1));

    /** All four, in the order in which they are compared. */
    public static final ImmutableList<TuningProfile> ALL = ImmutableList.of(DEFAULT, FAST, MEDIUM, LOW);

    /**
     * Creates a profile.
     *
     * @throws IllegalArgumentException if a time is not positive
     */
    public TuningProfile {
        Objects.requireNonNull(name, "name");
        statusUpdate = Durations.positive("the status update frequency", statusUpdate);
        monitorPeriod = Durations.positive("the monitor period", monitorPeriod);
        grace = Durations.positive("the monitor grace period", grace);
        eviction = Durations.positive("the toleration", eviction);
    }
}
