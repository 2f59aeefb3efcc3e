package dev.podcache.kubelet.nodestatus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;

/**
 * Applies strategic merge patches of Nodes, as an API server does, as far as this project's patches need it. Shares no
 * code with the main classes. Does not model order. Fails on any directive that it does not know.
 */
final class HandMadeMerge {

    private HandMadeMerge() {}

    /** Returns the patched object. Neither argument is modified. */
    static ObjectNode apply(ObjectNode object, ObjectNode patch) {
        ObjectNode result = object.deepCopy();
        for (Map.Entry<String, JsonNode> field : patch.properties()) {
            String name = field.getKey();
            JsonNode value = field.getValue();
            if (value.isNull()) {
                result.remove(name);
            } else if (value instanceof ObjectNode fields) {
                result.set(name, apply(result.withObject("/" + name), fields));
            } else if (name.equals("addresses") || name.equals("conditions")) {
                ArrayNode before = result.path(name) instanceof ArrayNode there ? there : null;
                result.set(name, before == null ? value : merged(before, (ArrayNode) value));
            } else if (!name.equals("$setElementOrder/addresses") && !name.equals("$setElementOrder/conditions")) {
                require(value.isValueNode() && !name.startsWith("$"), name);
                result.set(name, value);
            }
        }
        return result;
    }

    /** Merges lists by the element's type. An element may be a directive. */
    private static ArrayNode merged(ArrayNode before, ArrayNode patch) {
        ArrayNode result = before.deepCopy();
        for (JsonNode element : patch) {
            String directive = element.path("$patch").asText();
            if (directive.equals("replace")) {
                return withoutDirectives(patch);
            }
            require(directive.isEmpty() || directive.equals("delete"), directive);
            int at = indexOf(result, element.path("type").asText());
            if (directive.equals("delete")) {
                result.remove(at);
            } else if (at < 0) {
                result.add(element);
            } else {
                result.set(at, apply((ObjectNode) result.get(at), (ObjectNode) element));
            }
        }
        return result;
    }

    private static ArrayNode withoutDirectives(ArrayNode patch) {
        ArrayNode others = JsonNodeFactory.instance.arrayNode();
        for (JsonNode element : patch) {
            if (!element.has("$patch")) {
                others.add(element);
            }
        }
        return others;
    }

    private static int indexOf(ArrayNode list, String type) {
        for (int i = 0; i < list.size(); i++) {
            if (list.get(i).path("type").asText().equals(type)) {
                return i;
            }
        }
        return -1;
    }

    private static void require(boolean known, String what) {
        if (!known) {
            throw new AssertionError("a patch with " + what + ", which no Node's has so far");
        }
    }
}
