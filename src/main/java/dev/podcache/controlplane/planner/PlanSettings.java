package dev.podcache.controlplane.planner;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.kubelet.nodestatus.NodeStatusOptions;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.time.Durations;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The cluster to plan. Every Secret and ConfigMap is used by one pod, as a volume. Immutable. */
public final class PlanSettings {

    private static final int MOST = 100_000_000;
    private static final double HOUR = 3_600;

    final TuningProfile profile;
    final int nodes;
    final int podsPerNode;
    final int secretsPerPod;
    final int configMapsPerPod;
    final double changesPerHour;
    final Duration podLifetime;
    final ChangeDetectionStrategy strategy;
    final int streamLimit;
    final Duration leaseDuration;
    final Duration statusReport;
    final Duration syncFrequency;
    final @Nullable Duration ttl;
    final int failingNodes;

    private PlanSettings(Builder builder) {
        profile = builder.profile;
        nodes = builder.nodes;
        podsPerNode = builder.podsPerNode;
        secretsPerPod = builder.secretsPerPod;
        configMapsPerPod = builder.configMapsPerPod;
        changesPerHour = builder.changesPerHour;
        podLifetime = builder.podLifetime;
        strategy = builder.strategy;
        streamLimit = builder.streamLimit;
        leaseDuration = builder.leaseDuration;
        statusReport = builder.statusReport;
        syncFrequency = builder.syncFrequency;
        ttl = builder.ttl;
        failingNodes = builder.failingNodes;
        if (failingNodes > nodes) {
            throw new IllegalArgumentException(
                    "the failing nodes must be at most the " + nodes + " nodes, but are " + failingNodes);
        }
    }

    /** Returns a builder for a cluster of {@code nodes} nodes. */
    public static Builder builder(int nodes) {
        return new Builder(nodes);
    }

    public TuningProfile profile() {
        return profile;
    }

    public int nodes() {
        return nodes;
    }

    /** Returns the settings by their names in JSON: numbers and texts. */
    public ImmutableMap<String, Object> facts() {
        return ImmutableMap.<String, Object>builder()
                .put("profile", profile.name())
                .put("nodes", nodes)
                .put("podsPerNode", podsPerNode)
                .put("secretsPerPod", secretsPerPod)
                .put("configMapsPerPod", configMapsPerPod)
                .put("changesPerHour", changesPerHour)
                .put("podLifetimeSeconds", Figures.seconds(podLifetime))
                .put("strategy", strategy.name())
                .put("streamLimit", streamLimit)
                .put("statusUpdateSeconds", Figures.seconds(profile.statusUpdate()))
                .put("statusReportSeconds", Figures.seconds(statusReport))
                .put("leaseDurationSeconds", Figures.seconds(leaseDuration))
                .put("monitorPeriodSeconds", Figures.seconds(profile.monitorPeriod()))
                .put("monitorGraceSeconds", Figures.seconds(profile.grace()))
                .put("tolerationSeconds", Figures.seconds(profile.eviction()))
                .put("syncSeconds", Figures.seconds(syncFrequency))
                .put("failingNodes", failingNodes)
                .build();
    }

    int objectsPerPod() {
        return secretsPerPod + configMapsPerPod;
    }

    long pods() {
        return (long) nodes * podsPerNode;
    }

    long objects() {
        return pods() * objectsPerPod();
    }

    /** Returns how many pods start, and how many end, per second. */
    double podStarts() {
        return pods() / Figures.seconds(podLifetime);
    }

    /** Returns how many Secrets and ConfigMaps change per second. */
    double changesPerSecond() {
        return objects() * changesPerHour / HOUR;
    }

    NodeLeaseOptions lease() {
        return new NodeLeaseOptions("node", leaseDuration, () -> {});
    }

    /** Builds {@link PlanSettings}. Not thread-safe. */
    public static final class Builder {

        private final int nodes;
        private TuningProfile profile = TuningProfile.DEFAULT;
        private int podsPerNode = 30;
        private int secretsPerPod = 1;
        private int configMapsPerPod = 1;
        private double changesPerHour = 0.1;
        private Duration podLifetime = Duration.ofDays(1);
        private ChangeDetectionStrategy strategy = ChangeDetectionStrategy.WATCH;
        private int streamLimit = 100;
        private Duration leaseDuration = NodeLeaseOptions.DEFAULT_DURATION;
        private Duration statusReport = NodeStatusOptions.DEFAULT_REPORT_FREQUENCY;
        private Duration syncFrequency = Duration.ofMinutes(1);
        private @Nullable Duration ttl;
        private int failingNodes = 1;

        private Builder(int nodes) {
            this.nodes = inRange("the number of nodes", nodes, 1);
        }

        /** Sets the times of heartbeats and monitor. Default: {@link TuningProfile#DEFAULT}. */
        public Builder profile(TuningProfile value) {
            profile = Objects.requireNonNull(value, "profile");
            return this;
        }

        /** Sets the pods on each node. Default: 30. */
        public Builder podsPerNode(int value) {
            podsPerNode = inRange("the number of pods per node", value, 0);
            return this;
        }

        /** Sets the Secrets and ConfigMaps that each pod uses. Default: one each. */
        public Builder objectsPerPod(int secrets, int configMaps) {
            secretsPerPod = inRange("the number of Secrets per pod", secrets, 0);
            configMapsPerPod = inRange("the number of ConfigMaps per pod", configMaps, 0);
            return this;
        }

        /** Sets how often each Secret and ConfigMap changes. Default: 0.1 times an hour. */
        public Builder changesPerHour(double value) {
            if (!(value >= 0 && value <= MOST)) {
                throw new IllegalArgumentException(
                        "the changes per hour must be a number from 0 to " + MOST + ", but are " + value);
            }
            changesPerHour = value;
            return this;
        }

        /** Sets how long a pod lives before another one replaces it. Default: one day. */
        public Builder podLifetime(Duration value) {
            podLifetime = Durations.positive("the lifetime of a pod", value);
            return this;
        }

        /** Sets how the agents detect changes. Default: WATCH. */
        public Builder strategy(ChangeDetectionStrategy value) {
            strategy = Objects.requireNonNull(value, "strategy");
            return this;
        }

        /** Sets the API server's {@code --http2-max-streams-per-connection}. Default: 100. */
        public Builder streamLimit(int value) {
            streamLimit = inRange("the stream limit", value, 1);
            return this;
        }

        /** Sets the duration of each node's Lease, in whole seconds. Default: 40 s. */
        public Builder leaseDuration(Duration value) {
            leaseDuration = new NodeLeaseOptions("node", value, () -> {}).leaseDuration();
            return this;
        }

        /** Sets the kubelet's {@code nodeStatusReportFrequency}. Default: 5 min. */
        public Builder statusReport(Duration value) {
            statusReport = Durations.positive("the status report frequency", value);
            return this;
        }

        /** Sets the kubelet's {@code syncFrequency}. Default: 1 min. */
        public Builder syncFrequency(Duration value) {
            syncFrequency = Durations.positive("the sync frequency", value);
            return this;
        }

        /** Sets the TTL under CACHE. Default: what the TTL controller sets for so many nodes. */
        public Builder ttl(@Nullable Duration value) {
            ttl = value;
            return this;
        }

        /** Sets how many nodes of one zone fail at the same time. Default: 1. */
        public Builder failingNodes(int value) {
            failingNodes = inRange("the number of failing nodes", value, 1);
            return this;
        }

        /**
         * Returns the settings.
         *
         * @throws IllegalArgumentException if more nodes fail than there are
         */
        public PlanSettings build() {
            return new PlanSettings(this);
        }

        private static int inRange(String what, int value, int least) {
            if (value < least || value > MOST) {
                throw new IllegalArgumentException(
                        what + " must be from " + least + " to " + MOST + ", but is " + value);
            }
            return value;
        }
    }
}
