package dev.podcache.kubelet.podstatus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.PodStatus;

/**
 * A status as a tree without what says nothing: nulls, empty texts, objects and lists. The API server
 * writes some of them (a {@code lastState} of {@code {}}, an empty {@code imageID}) where we write none,
 * and no difference may come of that.
 */
final class CanonicalStatus {

    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private CanonicalStatus() {}

    static ObjectNode tree(PodStatus status) {
        ObjectNode tree = MAPPER.valueToTree(status);
        dropEmpty(tree);
        return tree;
    }

    private static void dropEmpty(JsonNode node) {
        node.forEach(CanonicalStatus::dropEmpty);
        if (node instanceof ObjectNode object) {
            object.properties().removeIf(field -> isEmpty(field.getValue()));
        }
    }

    private static boolean isEmpty(JsonNode value) {
        return value.isNull()
                || (value.isTextual() && value.textValue().isEmpty())
                || ((value instanceof ObjectNode || value instanceof ArrayNode) && value.isEmpty());
    }
}
