package dev.podcache.kubelet.nodestatus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.base.Strings;
import com.google.common.collect.Streams;
import dev.podcache.object.ModelJson;
import dev.podcache.patch.StrategicMergePatch;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The difference between a Node that was read and a Node as it should be: whether it must be reported, and the patch that
 * reports it. Pure functions, which modify none of their arguments.
 *
 * <p>Heartbeat times and the order of conditions do not count as changes; transition times do. A patch is a strategic merge patch
 * of metadata and status without a resourceVersion, so it keeps changes that other clients have made in the meantime.
 */
final class NodeStatusDifference {

    // After nodeStatusHasChanged of kubernetes/kubernetes, pkg/kubelet/kubelet_node_status.go, and PatchNodeStatus of
    // kubernetes/component-helpers, node/util/status.go.

    private static final StrategicMergePatch NODE = StrategicMergePatch.of("Node");

    private NodeStatusDifference() {}

    /**
     * Returns a deep copy of {@code node}. Keeps fields that the model does not know; their values are shared. Adds
     * metadata and status if they are missing.
     */
    static Node copy(Node node) {
        // by the builder, not through JSON: every agent copies its Node at each sync
        Node copy = new NodeBuilder(node).build();
        // fabric8's model allows a Node without them; the API does not
        if (copy.getMetadata() == null) {
            copy.setMetadata(new ObjectMeta());
        }
        NodeStatus status = copy.getStatus() == null ? new NodeStatus() : copy.getStatus();
        // the builder copies maps, but not their values
        status.setCapacity(copy(status.getCapacity()));
        status.setAllocatable(copy(status.getAllocatable()));
        copy.setStatus(status);
        return copy;
    }

    /**
     * Returns whether the statuses differ. Absent and empty collections are equal, and so are absent and empty
     * reasons and messages of conditions, which a server leaves out. Quantities are compared by value,
     * and times by instant. Neither argument is modified.
     */
    static boolean hasChanged(@Nullable NodeStatus before, @Nullable NodeStatus after) {
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
        NodeStatus a = rest(before, after);
        NodeStatus b = rest(after, before);
        // most statuses do not change; the JSON is needed only to find that an absent list equals an empty one
        return a.equals(b) || ModelJson.tree(a).equals(ModelJson.tree(b));
    }

    /** Returns what of the fields that are compared as they are {@code other} has not. */
    private static NodeStatus rest(NodeStatus status, NodeStatus other) {
        NodeStatus rest = differing(status, other);
        rest.setConditions(null);
        rest.setCapacity(null);
        rest.setAllocatable(null);
        rest.setDeclaredFeatures(null);
        return rest;
    }

    private static boolean sameConditions(@Nullable List<NodeCondition> before, @Nullable List<NodeCondition> after) {
        List<NodeCondition> a = byType(before);
        List<NodeCondition> b = byType(after);
        return a.size() == b.size()
                && Streams.zip(a.stream(), b.stream(), NodeStatusDifference::same)
                        .allMatch(same -> same);
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
                && Strings.nullToEmpty(a.getReason()).equals(Strings.nullToEmpty(b.getReason()))
                && Strings.nullToEmpty(a.getMessage()).equals(Strings.nullToEmpty(b.getMessage()))
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

    /**
     * Returns the patch from {@code original} to {@code modified} as JSON; {@code {}} if nothing differs. Ignores the
     * spec. Neither Node is modified.
     */
    static String patch(Node original, Node modified) {
        ObjectNode before = ModelJson.tree(differing(original, modified));
        ObjectNode after = ModelJson.tree(differing(modified, original));
        for (String map : new String[] {"/metadata/labels", "/metadata/annotations"}) {
            // the JSON omits an empty map; removing the whole map would also remove entries of other clients
            if (!before.at(map).isEmpty()) {
                after.withObject(map);
            }
        }
        JsonNode oldAddresses = before.path("status").path("addresses");
        JsonNode newAddresses = after.path("status").path("addresses");
        boolean replace = !oldAddresses.isEmpty() && !oldAddresses.equals(newAddresses);
        if (replace) {
            after.withObject("/status").set("addresses", oldAddresses);
        }
        ObjectNode patch = NODE.diff(before, after);
        if (replace) {
            // the API merges addresses by type, but two may have the same type; so replace the list
            ArrayNode addresses = patch.withObject("/status").putArray("addresses");
            newAddresses.forEach(addresses::add);
            addresses.addObject().put("$patch", "replace");
        }
        return patch.toString();
    }

    /**
     * Returns a Node with the parts of {@code node} that another one has not, without the spec. Equal parts, such as a long
     * list of images, need not become JSON.
     */
    private static Node differing(Node node, Node other) {
        // by setters, because a version of the model that adds a field changes the constructor
        Node differing = new Node();
        differing.setApiVersion(node.getApiVersion());
        differing.setKind(node.getKind());
        differing.setMetadata(unlessEqual(node.getMetadata(), other.getMetadata()));
        NodeStatus status = node.getStatus();
        differing.setStatus(
                status == null || other.getStatus() == null ? status : differing(status, other.getStatus()));
        differing.setAdditionalProperties(node.getAdditionalProperties());
        return differing;
    }

    /** By setters, too; a test finds a field that is missing here. */
    private static NodeStatus differing(NodeStatus status, NodeStatus other) {
        NodeStatus differing = new NodeStatus();
        differing.setAddresses(unlessEqual(status.getAddresses(), other.getAddresses()));
        differing.setAllocatable(unlessEqual(status.getAllocatable(), other.getAllocatable()));
        differing.setCapacity(unlessEqual(status.getCapacity(), other.getCapacity()));
        differing.setConditions(unlessEqual(status.getConditions(), other.getConditions()));
        differing.setConfig(unlessEqual(status.getConfig(), other.getConfig()));
        differing.setDaemonEndpoints(unlessEqual(status.getDaemonEndpoints(), other.getDaemonEndpoints()));
        differing.setDeclaredFeatures(unlessEqual(status.getDeclaredFeatures(), other.getDeclaredFeatures()));
        differing.setFeatures(unlessEqual(status.getFeatures(), other.getFeatures()));
        differing.setImages(unlessEqual(status.getImages(), other.getImages()));
        differing.setNodeInfo(unlessEqual(status.getNodeInfo(), other.getNodeInfo()));
        differing.setPhase(unlessEqual(status.getPhase(), other.getPhase()));
        differing.setRuntimeHandlers(unlessEqual(status.getRuntimeHandlers(), other.getRuntimeHandlers()));
        differing.setVolumesAttached(unlessEqual(status.getVolumesAttached(), other.getVolumesAttached()));
        differing.setVolumesInUse(unlessEqual(status.getVolumesInUse(), other.getVolumesInUse()));
        differing.setAdditionalProperties(status.getAdditionalProperties());
        return differing;
    }

    private static <T> @Nullable T unlessEqual(@Nullable T part, @Nullable T other) {
        return Objects.equals(part, other) ? null : part;
    }

    private static @Nullable Map<String, Quantity> copy(@Nullable Map<String, Quantity> quantities) {
        if (quantities == null) {
            return null;
        }
        Map<String, Quantity> copy = new LinkedHashMap<>(quantities);
        copy.replaceAll((resource, quantity) -> {
            Quantity own = new Quantity(quantity.getAmount(), quantity.getFormat());
            own.setAdditionalProperties(new LinkedHashMap<>(quantity.getAdditionalProperties()));
            return own;
        });
        return copy;
    }
}
