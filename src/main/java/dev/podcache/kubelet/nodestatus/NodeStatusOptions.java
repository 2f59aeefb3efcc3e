package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableList;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/** Who a node is, and how it reports its status. Immutable. */
public final class NodeStatusOptions {

    private static final Duration UPDATE_FREQUENCY = Duration.ofSeconds(10);
    private static final Duration REPORT_FREQUENCY = Duration.ofMinutes(5);

    private final InitialNode node;
    private final ImmutableList<NodeStatusSetter> setters;
    private final Duration updateFrequency;
    private final Duration reportFrequency;
    private final boolean registersNode;
    private final boolean resetsExtendedResources;
    private final Runnable onRepeatedFailure;
    private final DoubleSupplier random;

    private NodeStatusOptions(Builder builder) {
        this.node = builder.node;
        this.setters = builder.setters;
        this.updateFrequency = builder.updateFrequency;
        this.reportFrequency = builder.reportFrequency;
        this.registersNode = builder.registersNode;
        this.resetsExtendedResources = builder.resetsExtendedResources;
        this.onRepeatedFailure = builder.onRepeatedFailure;
        this.random = builder.random;
    }

    /** A node that says {@code node} of itself when it registers. */
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

    boolean resetsExtendedResources() {
        return resetsExtendedResources;
    }

    Runnable onRepeatedFailure() {
        return onRepeatedFailure;
    }

    DoubleSupplier random() {
        return random;
    }

    /** Collects {@link NodeStatusOptions}. For one thread. */
    public static final class Builder {

        private final InitialNode node;
        private ImmutableList<NodeStatusSetter> setters = ImmutableList.of();
        private Duration updateFrequency = UPDATE_FREQUENCY;
        private Duration reportFrequency = REPORT_FREQUENCY;
        private boolean registersNode = true;
        private boolean resetsExtendedResources;
        private Runnable onRepeatedFailure = () -> {};
        private DoubleSupplier random = () -> ThreadLocalRandom.current().nextDouble();

        private Builder(InitialNode node) {
            this.node = Objects.requireNonNull(node, "node");
        }

        /**
         * What computes the status, in this order. The one of the Ready condition should be the last of those that add
         * conditions: old readers take the last one in the list for it. Default: none.
         */
        public Builder setters(List<NodeStatusSetter> value) {
            this.setters = ImmutableList.copyOf(value);
            return this;
        }

        /**
         * How often to compute the status, which is reported if it changed. Default: 10 s.
         *
         * @throws IllegalArgumentException unless it is positive
         */
        public Builder updateFrequency(Duration value) {
            this.updateFrequency = positive("updateFrequency", value);
            return this;
        }

        /**
         * How often to report the status even if it did not change. Default: 5 min.
         *
         * @throws IllegalArgumentException unless it is positive
         */
        public Builder reportFrequency(Duration value) {
            this.reportFrequency = positive("reportFrequency", value);
            return this;
        }

        /**
         * Whether the node registers itself; if not, nothing is reported until somebody else
         * creates the Node. Default: yes.
         */
        public Builder registerNode(boolean value) {
            this.registersNode = value;
            return this;
        }

        /**
         * Whether registration sets the extended resources of an existing Node, such as devices of a vendor, to none,
         * because what offers them has yet to say that they are still there. Default: no.
         */
        public Builder resetExtendedResources(boolean value) {
            this.resetsExtendedResources = value;
            return this;
        }

        /**
         * Run when a sync fails for the second time in a row and each further one, such as to drop connections that may
         * be dead. May block for a moment. Default: nothing.
         */
        public Builder onRepeatedFailure(Runnable value) {
            this.onRepeatedFailure = Objects.requireNonNull(value, "onRepeatedFailure");
            return this;
        }

        /** Uniform in [0, 1), for jitter. Default: {@link ThreadLocalRandom}. */
        public Builder random(DoubleSupplier value) {
            this.random = Objects.requireNonNull(value, "random");
            return this;
        }

        public NodeStatusOptions build() {
            return new NodeStatusOptions(this);
        }

        private static Duration positive(String what, Duration value) {
            if (value.isNegative() || value.isZero()) {
                throw new IllegalArgumentException(what + " " + value + " is no period: it must be positive");
            }
            return value;
        }
    }
}
