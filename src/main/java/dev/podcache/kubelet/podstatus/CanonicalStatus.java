package dev.podcache.kubelet.podstatus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ModelJson;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.Map;

/**
 * Converts a status to a JSON tree without null and empty values. The API server writes some of them where this library
 * writes none, such as {@code {}} for {@code lastState} and an empty {@code imageID}. Such differences must not count.
 */
final class CanonicalStatus {

    private CanonicalStatus() {}

    static ObjectNode tree(PodStatus status) {
        ObjectNode tree = ModelJson.tree(status);
        dropEmpty(tree);
        return tree;
    }

    private static void dropEmpty(JsonNode node) {
        node.forEach(CanonicalStatus::dropEmpty);
        if (node instanceof ObjectNode object) {
            object.properties().removeIf(field -> isEmpty(field.getValue()) && !isRunningState(field));
        }
    }

    /** Without its start time a container that runs would have no state, which means that it waits. */
    private static boolean isRunningState(Map.Entry<String, JsonNode> field) {
        return field.getKey().equals("running") && field.getValue().isObject();
    }

    private static boolean isEmpty(JsonNode value) {
        return value.isNull()
                || (value.isTextual() && value.textValue().isEmpty())
                || ((value instanceof ObjectNode || value instanceof ArrayNode) && value.isEmpty());
    }
}
