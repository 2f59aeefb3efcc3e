package dev.podcache.kubelet.nodestatus;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Converts Nodes to JSON trees, and copies them. */
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
