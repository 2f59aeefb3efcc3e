package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.Streams;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Compares two statuses, to decide whether a change must be reported. Heartbeat times and the order of conditions do
 * not count as changes; transition times do.
 */
final class NodeStatusChange {

    // After nodeStatusHasChanged of kubernetes/kubernetes, pkg/kubelet/kubelet_node_status.go.

    private NodeStatusChange() {}

    /**
     * Returns whether the statuses differ. Absent and empty collections are equal. Quantities are compared by value,
     * and times by instant. Neither argument is modified.
     */
    static boolean between(@Nullable NodeStatus before, @Nullable NodeStatus after) {
        if (before == null || after == null) {
            return before != null || after != null;
        }
        return !sameConditions(before.getConditions(), after.getConditions())
                || !sameQuantities(before.getCapacity(), after.getCapacity())
                || !sameQuantities(before.getAllocatable(), after.getAllocatable())
                || !sameFeatures(before.getDeclaredFeatures(), after.getDeclaredFeatures())
                || !sameRest(before, after);
    }

    /** A server that does not know the field drops it, so its absence must not be reported again and again. */
    private static boolean sameFeatures(@Nullable List<String> before, @Nullable List<String> after) {
        return before == null || before.isEmpty() || before.equals(after);
    }

    private static boolean sameRest(NodeStatus before, NodeStatus after) {
        NodeStatus a = rest(before);
        NodeStatus b = rest(after);
        // most statuses do not change; the JSON is needed only to find that an absent list equals an empty one
        return a.equals(b) || NodeJson.tree(a).equals(NodeJson.tree(b));
    }

    /**
     * Returns the fields that are compared as they are. A field that a later version of the model adds changes this
     * constructor, and so does not compile until it is listed here.
     */
    private static NodeStatus rest(NodeStatus status) {
        NodeStatus rest = new NodeStatus(
                status.getAddresses(),
                null,
                null,
                null,
                status.getConfig(),
                status.getDaemonEndpoints(),
                null,
                status.getFeatures(),
                status.getImages(),
                status.getNodeInfo(),
                status.getPhase(),
                status.getRuntimeHandlers(),
                status.getVolumesAttached(),
                status.getVolumesInUse());
        rest.setAdditionalProperties(status.getAdditionalProperties());
        return rest;
    }

    private static boolean sameConditions(@Nullable List<NodeCondition> before, @Nullable List<NodeCondition> after) {
        List<NodeCondition> a = byType(before);
        List<NodeCondition> b = byType(after);
        return a.size() == b.size()
                && Streams.zip(a.stream(), b.stream(), NodeStatusChange::same).allMatch(same -> same);
    }

    private static List<NodeCondition> byType(@Nullable List<NodeCondition> conditions) {
        return conditions == null
                ? List.of()
                : conditions.stream()
                        .sorted(Comparator.comparing(
                                NodeCondition::getType, Comparator.nullsFirst(Comparator.naturalOrder())))
                        .toList();
    }

    private static boolean same(NodeCondition a, NodeCondition b) {
        return Objects.equals(a.getType(), b.getType())
                && Objects.equals(a.getStatus(), b.getStatus())
                && Objects.equals(a.getReason(), b.getReason())
                && Objects.equals(a.getMessage(), b.getMessage())
                && sameTime(a.getLastTransitionTime(), b.getLastTransitionTime())
                && Objects.equals(a.getAdditionalProperties(), b.getAdditionalProperties());
    }

    private static boolean sameTime(@Nullable String a, @Nullable String b) {
        if (a == null || b == null || a.equals(b)) {
            return Objects.equals(a, b);
        }
        try {
            return Instant.parse(a).equals(Instant.parse(b));
        } catch (DateTimeParseException notATime) {
            return false;
        }
    }

    private static boolean sameQuantities(@Nullable Map<String, Quantity> a, @Nullable Map<String, Quantity> b) {
        // Quantity.equals compares by value
        return (a == null ? Map.of() : a).equals(b == null ? Map.of() : b);
    }
}
