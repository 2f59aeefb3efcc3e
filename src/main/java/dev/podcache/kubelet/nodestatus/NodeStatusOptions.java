package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableList;
import dev.podcache.time.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/** Options of a {@link NodeStatusUpdater}. Immutable. */
public final class NodeStatusOptions {

    /** The kubelet's default of {@code nodeStatusUpdateFrequency}. */
    public static final Duration DEFAULT_UPDATE_FREQUENCY = Duration.ofSeconds(10);

    /** The kubelet's default of {@code nodeStatusReportFrequency}. */
    public static final Duration DEFAULT_REPORT_FREQUENCY = Duration.ofMinutes(5);

    private final InitialNode node;
    private final ImmutableList<NodeStatusSetter> setters;
    private final Duration updateFrequency;
    private final Duration reportFrequency;
    private final boolean registersNode;
    private final boolean registersAgain;
    private final Runnable onRepeatedFailure;
    private final DoubleSupplier random;

    private NodeStatusOptions(Builder builder) {
        this.node = builder.node;
        this.setters = builder.setters;
        this.updateFrequency = builder.updateFrequency;
        this.reportFrequency = builder.reportFrequency;
        this.registersNode = builder.registersNode;
        this.registersAgain = builder.registersAgain;
        this.onRepeatedFailure = builder.onRepeatedFailure;
        this.random = builder.random;
    }

    /** Returns a builder of options for a node that registers as {@code node}. */
    public static Builder builder(InitialNode node) {
        return new Builder(node);
    }

    InitialNode node() {
        return node;
    }

    ImmutableList<NodeStatusSetter> setters() {
        return setters;
    }

    Duration updateFrequency() {
        return updateFrequency;
    }

    Duration reportFrequency() {
        return reportFrequency;
    }

    boolean registersNode() {
        return registersNode;
    }

    boolean registersAgain() {
        return registersAgain;
    }

    Runnable onRepeatedFailure() {
        return onRepeatedFailure;
    }

    DoubleSupplier random() {
        return random;
    }

    /** Builds {@link NodeStatusOptions}. Not thread-safe. */
    public static final class Builder {

        private final InitialNode node;
        private ImmutableList<NodeStatusSetter> setters = ImmutableList.of();
        private Duration updateFrequency = DEFAULT_UPDATE_FREQUENCY;
        private Duration reportFrequency = DEFAULT_REPORT_FREQUENCY;
        private boolean registersNode = true;
        private boolean registersAgain;
        private Runnable onRepeatedFailure = () -> {};
        private DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();

        private Builder(InitialNode node) {
            this.node = Objects.requireNonNull(node, "node");
        }

        /**
         * Sets the setters that compute the status, in this order. The setter of the Ready condition should be the last
         * one that adds a condition: old clients expect Ready at the end of the list. Default: none.
         */
        public Builder setters(List<NodeStatusSetter> value) {
            this.setters = ImmutableList.copyOf(value);
            return this;
        }

        /**
         * Sets the period of computing the status, which is reported if it has changed. Default: 10 s.
         *
         * @throws IllegalArgumentException unless {@code value} is positive
         */
        public Builder updateFrequency(Duration value) {
            this.updateFrequency = Durations.positive("updateFrequency", value);
            return this;
        }

        /**
         * Sets the period of reporting the status if it has not changed. Default: 5 min.
         *
         * @throws IllegalArgumentException unless {@code value} is positive
         */
        public Builder reportFrequency(Duration value) {
            this.reportFrequency = Durations.positive("reportFrequency", value);
            return this;
        }

        /**
         * Sets whether the updater registers the node. If not, nothing is reported until another client creates the
         * Node. Default: true.
         */
        public Builder registerNode(boolean value) {
            this.registersNode = value;
            return this;
        }

        /**
         * Sets whether the updater registers the node again if its Node is deleted. If not, it reports nothing until
         * another client creates the Node. Default: false, because a Node that is deleted should be gone, for an
         * autoscaler or an administrator; and because the labels, taints and annotations of others would be lost.
         */
        public Builder registerAgain(boolean value) {
            this.registersAgain = value;
            return this;
        }

        /**
         * Sets the callback that runs after the second and each further failed try of a sync, such as to close broken
         * connections. May block for a moment. Default: does nothing.
         */
        public Builder onRepeatedFailure(Runnable value) {
            this.onRepeatedFailure = Objects.requireNonNull(value, "onRepeatedFailure");
            return this;
        }

        /** Sets the source of jitter, uniform in [0, 1). Default: {@link ThreadLocalRandom}. */
        public Builder random(DoubleSupplier value) {
            this.random = Objects.requireNonNull(value, "random");
            return this;
        }

        public NodeStatusOptions build() {
            return new NodeStatusOptions(this);
        }
    }
}
