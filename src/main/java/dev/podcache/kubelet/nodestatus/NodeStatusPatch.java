package dev.podcache.kubelet.nodestatus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.patch.StrategicMergePatch;
import io.fabric8.kubernetes.api.model.Node;

/**
 * The strategic merge patch that brings a Node's metadata and status, and nothing else, from one state to another. It
 * has no resourceVersion: what others changed meanwhile stays.
 */
final class NodeStatusPatch {

    // After PatchNodeStatus of kubernetes/component-helpers, node/util/status.go.

    private static final StrategicMergePatch NODE = StrategicMergePatch.of("Node");

    private NodeStatusPatch() {}

    /** As JSON; {@code {}} if nothing differs. Neither Node is modified. */
    static String between(Node original, Node modified) {
        ObjectNode before = NodeJson.tree(original);
        ObjectNode after = NodeJson.tree(modified);
        before.remove("spec");
        after.remove("spec");
        for (String map : new String[] {"/metadata/labels", "/metadata/annotations"}) {
            // an empty map is not written; were it to go as a whole, so would what others put in meanwhile
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
            // the API says that addresses merge by type, but two may have the same: so they are replaced as a whole
            ArrayNode addresses = patch.withObject("/status").putArray("addresses");
            newAddresses.forEach(addresses::add);
            addresses.addObject().put("$patch", "replace");
        }
        return patch.toString();
    }
}
