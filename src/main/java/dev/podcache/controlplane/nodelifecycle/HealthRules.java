package dev.podcache.controlplane.nodelifecycle;

import com.google.common.collect.ImmutableList;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.ReadyStatus;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeConditionBuilder;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decides from the heartbeats of a node whether it is alive. A new heartbeat in the status and a renewed Lease are signs
 * of life, and either of them is enough. All times are those at which the monitor saw a sign, so the clocks of nodes do
 * not matter. Immutable; pure functions.
 */
final class HealthRules {

    /*
     * After tryUpdateNodeHealth in pkg/controller/nodelifecycle/node_lifecycle_controller.go of Kubernetes, with two
     * differences. The time at which Ready changed is not kept: only evictions without taints needed it. A heartbeat in
     * the status does not forget the Lease; upstream takes the known Lease for a renewed one in the pass after it, and
     * finds a dead node one pass later.
     */

    /** Of the conditions that a kubelet reports; NetworkUnavailable is the control plane's own. */
    private static final ImmutableList<String> KUBELET_CONDITIONS =
            ImmutableList.of("Ready", "MemoryPressure", "DiskPressure", "PIDPressure");

    private static final long LONGEST_AGE_SECONDS = Duration.ofDays(36_500).toSeconds();

    private final long grace;
    private final Duration startupGrace;

    HealthRules(Duration grace, Duration startupGrace) {
        this.grace = grace.toNanos();
        this.startupGrace = startupGrace;
    }

    /**
     * Decides about a node.
     *
     * @param known what the last decision returned; null for a new node
     * @param renewed when the node has renewed its Lease, as last seen; {@link ClusterCache#NEVER} if it has none
     */
    HealthVerdict check(@Nullable NodeHealth known, ObservedNode node, long renewed, CheckTime now) {
        NodeHealth health = withLease(withStatus(known, node, now), renewed, now);
        long allowed = node.ready() == null ? startupGrace.toNanos() : grace;
        ReadyStatus reported = node.readyStatus();
        ReadyStatus observed = reported == ReadyStatus.ABSENT ? ReadyStatus.UNKNOWN : reported;
        if (now.nanos() - health.probedAt() <= allowed) {
            return new HealthVerdict(health, observed, reported, ImmutableList.of());
        }
        boolean written = reported == ReadyStatus.UNKNOWN;
        return new HealthVerdict(
                health, observed, ReadyStatus.UNKNOWN, written ? ImmutableList.of() : unknown(node, now));
    }

    private static NodeHealth withStatus(@Nullable NodeHealth known, ObservedNode node, CheckTime now) {
        NodeCondition ready = node.ready();
        if (known == null) {
            return new NodeHealth(ready, ready == null ? createdAt(node, now) : now.nanos(), ClusterCache.NEVER);
        }
        if (ready == null) {
            // its removal is a sign of life, too
            return known.ready() == null ? known : new NodeHealth(null, now.nanos(), known.renewTime());
        }
        return isSameHeartbeat(known.ready(), ready) ? known : new NodeHealth(ready, now.nanos(), known.renewTime());
    }

    @SuppressWarnings("ReferenceEquality") // mostly the same object: a node reports much more rarely than a pass asks
    private static boolean isSameHeartbeat(@Nullable NodeCondition before, NodeCondition now) {
        return before == now
                || (before != null && Objects.equals(before.getLastHeartbeatTime(), now.getLastHeartbeatTime()));
    }

    private static NodeHealth withLease(NodeHealth health, long renewed, CheckTime now) {
        return renewed > health.renewTime() ? new NodeHealth(health.ready(), now.nanos(), renewed) : health;
    }

    private static long createdAt(ObservedNode node, CheckTime now) {
        Duration age = Duration.between(node.created(now.wall()), now.wall());
        // the clock of the server may be wrong by centuries
        long seconds = Math.max(-LONGEST_AGE_SECONDS, Math.min(LONGEST_AGE_SECONDS, age.toSeconds()));
        return now.nanos() - Duration.ofSeconds(seconds).toNanos();
    }

    private static ImmutableList<NodeCondition> unknown(ObservedNode node, CheckTime now) {
        String time = ApiTime.of(now.wall());
        ImmutableList.Builder<NodeCondition> changes = ImmutableList.builder();
        for (String type : KUBELET_CONDITIONS) {
            NodeCondition condition = node.condition(type);
            if (condition == null) {
                changes.add(neverUpdated(type, node.creationTimestamp(), time));
            } else if (ReadyStatus.of(condition) != ReadyStatus.UNKNOWN) {
                changes.add(new NodeConditionBuilder(condition)
                        .withStatus("Unknown")
                        .withReason("NodeStatusUnknown")
                        .withMessage("Kubelet stopped posting node status.")
                        .withLastTransitionTime(time)
                        .build());
            }
        }
        return changes.build();
    }

    private static NodeCondition neverUpdated(String type, @Nullable String created, String time) {
        return new NodeConditionBuilder()
                .withType(type)
                .withStatus("Unknown")
                .withReason("NodeStatusNeverUpdated")
                .withMessage("Kubelet never posted node status.")
                .withLastHeartbeatTime(created)
                .withLastTransitionTime(time)
                .build();
    }
}
