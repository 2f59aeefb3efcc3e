package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Computes the status: sets the platform labels, then calls all setters in order. Decides whether to report it, and reports it.
 * Used only by tasks of {@link SerialTasks}, except for {@link #last}.
 */
final class StatusReports {

    private static final Logger log = LoggerFactory.getLogger(NodeStatusUpdater.class);

    private final ObjectApi<Node> api;
    private final InitialNode self;
    private final ImmutableList<NodeStatusSetter> setters;
    private final LastReport lastReport;
    private final Timekeeper timekeeper;
    private final Set<NodeStatusSetter> failing = Collections.newSetFromMap(new IdentityHashMap<>());
    private volatile @Nullable Instant last; // written by tasks of SerialTasks

    StatusReports(ObjectApi<Node> api, NodeStatusOptions options, Timekeeper timekeeper) {
        this.api = api;
        this.self = options.node();
        this.setters = options.setters();
        this.lastReport = new LastReport(options.reportFrequency(), options.random());
        this.timekeeper = timekeeper;
    }

    /**
     * The result of a computation.
     *
     * @param original the Node that was read, unmodified
     * @param node the updated copy
     * @param changed whether the platform labels or the status have changed, as {@link NodeStatusDifference} defines it
     */
    record Computed(Node original, Node node, boolean changed) {

        /** Returns the CIDRs of this node's pods, separated by commas; empty if the Node has none. */
        String podCidrs() {
            NodeSpec spec = original.getSpec();
            return spec == null || spec.getPodCIDRs() == null ? "" : String.join(",", spec.getPodCIDRs());
        }
    }

    /** Returns the Node to create, with its status. Blocks while a setter blocks. */
    Node initial() {
        Node node = self.toNode();
        set(node, timekeeper.wallTime());
        return node;
    }

    /** Computes the status, in a copy of {@code original}. Blocks while a setter blocks. */
    Computed compute(Node original) {
        Node node = NodeStatusDifference.copy(original);
        boolean labelsChanged = setPlatformLabels(node);
        set(node, timekeeper.wallTime());
        return new Computed(
                original,
                node,
                labelsChanged || NodeStatusDifference.hasChanged(original.getStatus(), node.getStatus()));
    }

    /** Returns whether status, platform labels or pod CIDRs have changed since the last report. */
    boolean isChanged(Computed computed) {
        return computed.changed() || lastReport.differsIn(computed.podCidrs());
    }

    /** Returns whether a report is due although nothing changed. */
    boolean isDue() {
        return lastReport.isDue(timekeeper.nanoTime());
    }

    /** Reports the status with one request. */
    CompletableFuture<Void> send(Computed computed) {
        lastReport.sending(isChanged(computed));
        String patch = NodeStatusDifference.patch(computed.original(), computed.node());
        return api.patchStatus(ObjectKey.of("", computed.node().getMetadata().getName()), patch)
                .thenAccept(patched -> {
                    lastReport.sent(timekeeper.nanoTime(), computed.podCidrs());
                    last = timekeeper.wallTime();
                });
    }

    /** Forgets the last report, because the Node has just been registered. */
    void forget() {
        lastReport.forget();
    }

    /** Returns when the server last accepted a report. May be called from any thread. */
    Optional<Instant> last() {
        return Optional.ofNullable(last);
    }

    private boolean setPlatformLabels(Node node) {
        Map<String, String> before = node.getMetadata().getLabels();
        Map<String, String> labels = before == null ? new HashMap<>() : new HashMap<>(before);
        labels.put(NodeLabels.OS, self.os());
        labels.put(NodeLabels.ARCH, self.arch());
        node.getMetadata().setLabels(labels);
        return !labels.equals(before);
    }

    private void set(Node node, Instant now) {
        for (NodeStatusSetter setter : setters) {
            try {
                setter.set(node, now);
                if (failing.remove(setter)) {
                    log.info(
                            "status setter {} of Node {} succeeds again",
                            setter.getClass().getSimpleName(),
                            self.name());
                }
            } catch (RuntimeException | LinkageError e) {
                // LinkageError: a native library could not be loaded
                if (failing.add(setter)) {
                    log.warn(
                            "status setter {} of Node {} failed; its part of the status is stale",
                            setter.getClass().getSimpleName(),
                            self.name(),
                            e);
                }
            }
        }
    }

    /**
     * Remembers the last report, and decides when a report is due although nothing changed.
     *
     * <p>After the first report, and after a report of a change, the next one is due after a random time between half and
     * one and a half times the frequency. So a change that affects all nodes of a cluster does not synchronize their
     * reports. After a report without a change, the next one is due after exactly the frequency.
     */
    static final class LastReport {

        private final long frequency; // nanoseconds
        private final DoubleSupplier random;

        private boolean reported;
        private long time; // nanoseconds
        private long delay; // nanoseconds after the frequency; may be negative
        private String podCidrs = "";

        /**
         * Creates an object without a last report.
         *
         * @param random uniform in [0, 1)
         */
        LastReport(Duration frequency, DoubleSupplier random) {
            this.frequency = frequency.toNanos();
            this.random = random;
        }

        /** Returns whether the Node's pod CIDRs have changed since the last report. False if it has none. */
        boolean differsIn(String podCidrs) {
            return !podCidrs.isEmpty() && !podCidrs.equals(this.podCidrs);
        }

        /** Returns whether a report is due at {@code now} although nothing changed. Always true before the first report. */
        boolean isDue(long now) {
            // adding frequency and delay could overflow
            return !reported || now - time - frequency >= delay;
        }

        /** Call before each try of a report. Each call draws the delay of the next report again. */
        void sending(boolean changed) {
            delay = changed || !reported ? (long) (frequency * (random.getAsDouble() - 0.5)) : 0;
        }

        /** Call when the server has accepted the report. */
        void sent(long now, String podCidrs) {
            reported = true;
            time = now;
            if (!podCidrs.isEmpty()) {
                this.podCidrs = podCidrs;
            }
        }

        /** Forgets the last report, because the Node was deleted or has just been registered. */
        void forget() {
            reported = false;
        }
    }
}
