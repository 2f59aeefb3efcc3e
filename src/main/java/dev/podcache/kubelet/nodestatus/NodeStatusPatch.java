package dev.podcache.kubelet.nodestatus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.patch.StrategicMergePatch;
import io.fabric8.kubernetes.api.model.Node;

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
        ObjectNode before = NodeJson.tree(original);
        ObjectNode after = NodeJson.tree(modified);
        before.remove("spec");
        after.remove("spec");
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
}
