package dev.podcache.kubelet.nodestatus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.patch.StrategicMergePatch;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeStatus;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Creates strategic merge patches of a Node's metadata and status. A patch has no resourceVersion, so it keeps changes
 * that other clients have made in the meantime.
 */
final class NodeStatusPatch {

    // After PatchNodeStatus of kubernetes/component-helpers, node/util/status.go.

    private static final StrategicMergePatch NODE = StrategicMergePatch.of("Node");

    private NodeStatusPatch() {}

    /**
     * Returns the patch from {@code original} to {@code modified} as JSON; {@code {}} if nothing differs. Ignores the
     * spec. Neither Node is modified.
     */
    static String between(Node original, Node modified) {
        ObjectNode before = NodeJson.tree(differing(original, modified));
        ObjectNode after = NodeJson.tree(differing(modified, original));
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
        Node differing = new Node(
                node.getApiVersion(),
                node.getKind(),
                unlessEqual(node.getMetadata(), other.getMetadata()),
                null,
                differing(node.getStatus(), other.getStatus()));
        differing.setAdditionalProperties(node.getAdditionalProperties());
        return differing;
    }

    private static @Nullable NodeStatus differing(@Nullable NodeStatus status, @Nullable NodeStatus other) {
        if (status == null || other == null) {
            return status;
        }
        NodeStatus differing = new NodeStatus(
                unlessEqual(status.getAddresses(), other.getAddresses()),
                unlessEqual(status.getAllocatable(), other.getAllocatable()),
                unlessEqual(status.getCapacity(), other.getCapacity()),
                unlessEqual(status.getConditions(), other.getConditions()),
                unlessEqual(status.getConfig(), other.getConfig()),
                unlessEqual(status.getDaemonEndpoints(), other.getDaemonEndpoints()),
                unlessEqual(status.getDeclaredFeatures(), other.getDeclaredFeatures()),
                unlessEqual(status.getFeatures(), other.getFeatures()),
                unlessEqual(status.getImages(), other.getImages()),
                unlessEqual(status.getNodeInfo(), other.getNodeInfo()),
                unlessEqual(status.getPhase(), other.getPhase()),
                unlessEqual(status.getRuntimeHandlers(), other.getRuntimeHandlers()),
                unlessEqual(status.getVolumesAttached(), other.getVolumesAttached()),
                unlessEqual(status.getVolumesInUse(), other.getVolumesInUse()));
        differing.setAdditionalProperties(status.getAdditionalProperties());
        return differing;
    }

    private static <T> @Nullable T unlessEqual(@Nullable T part, @Nullable T other) {
        return Objects.equals(part, other) ? null : part;
    }
}
