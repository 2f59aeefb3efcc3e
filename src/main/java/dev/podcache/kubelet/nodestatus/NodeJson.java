package dev.podcache.kubelet.nodestatus;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/** Converts Nodes to JSON trees, and copies them through JSON. */
final class NodeJson {

    private static final ObjectMapper MAPPER =
            JsonMapper.builder().findAndAddModules().build();

    private NodeJson() {}

    static ObjectNode tree(Node node) {
        return MAPPER.valueToTree(node);
    }

    static ObjectNode tree(NodeStatus status) {
        return MAPPER.valueToTree(status);
    }

    /**
     * Returns a deep copy of {@code node}. Keeps fields that the model does not know. Adds metadata and status if they
     * are missing.
     */
    static Node copy(Node node) {
        try {
            Node copy = MAPPER.treeToValue(tree(node), Node.class);
            // fabric8's model allows a Node without them; the API does not
            if (copy.getMetadata() == null) {
                copy.setMetadata(new ObjectMeta());
            }
            if (copy.getStatus() == null) {
                copy.setStatus(new NodeStatus());
            }
            return copy;
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a Node that was converted to JSON cannot be converted back", e);
        }
    }
}
