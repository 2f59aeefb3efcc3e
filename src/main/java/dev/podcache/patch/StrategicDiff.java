package dev.podcache.patch;

import static dev.podcache.patch.Directives.DELETE;
import static dev.podcache.patch.Directives.DELETE_FROM_PRIMITIVE_LIST;
import static dev.podcache.patch.Directives.PATCH;
import static dev.podcache.patch.Directives.RETAIN_KEYS;
import static dev.podcache.patch.Directives.SET_ELEMENT_ORDER;
import static dev.podcache.patch.Directives.path;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.Ordering;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Implements {@link StrategicMergePatch#diff}. */
final class StrategicDiff {

    private final MergeKeys keys;

    StrategicDiff(MergeKeys keys) {
        this.keys = keys;
    }

    ObjectNode diff(ObjectNode original, ObjectNode modified) {
        return diffObject(original, modified, "");
    }

    private ObjectNode diffObject(ObjectNode original, ObjectNode modified, String path) {
        ObjectNode patch = JsonNodeFactory.instance.objectNode();
        for (Map.Entry<String, JsonNode> field : modified.properties()) {
            String name = field.getKey();
            JsonNode before = original.get(name);
            JsonNode after = field.getValue();
            if (before instanceof ObjectNode from && after instanceof ObjectNode to) {
                ObjectNode child = diffObject(from, to, path(path, name));
                if (!child.isEmpty()) {
                    patch.set(name, child);
                }
            } else if (before instanceof ArrayNode from && after instanceof ArrayNode to) {
                diffList(patch, name, from, to, path(path, name));
            } else if (!after.equals(before)) {
                patch.set(name, after.deepCopy());
            }
        }
        for (Map.Entry<String, JsonNode> field : original.properties()) {
            if (!modified.has(field.getKey())) {
                patch.putNull(field.getKey());
            }
        }
        return patch;
    }

    private void diffList(ObjectNode patch, String name, ArrayNode original, ArrayNode modified, String path) {
        if (original.equals(modified)) {
            return;
        }
        String key = keys.keyOf(path);
        if (key == null) {
            patch.set(name, modified.deepCopy());
            return;
        }
        ElementOrder order = new ElementOrder(key);
        ArrayNode changes = key.equals(MergeKeys.VALUES)
                ? diffValues(patch, name, original, modified, order)
                : diffElements(original, modified, path, key);
        if (!changes.isEmpty()) {
            patch.set(name, changes);
        }
        ArrayNode newOrder = patch.putArray(SET_ELEMENT_ORDER + name);
        for (JsonNode element : modified) {
            JsonNode identity = order.identity(element);
            newOrder.add(
                    key.equals(MergeKeys.VALUES)
                            ? identity
                            : JsonNodeFactory.instance.objectNode().set(key, identity));
        }
    }

    private static ArrayNode diffValues(
            ObjectNode patch, String name, ArrayNode original, ArrayNode modified, ElementOrder order) {
        ArrayNode removed = missing(original, modified, order);
        if (!removed.isEmpty()) {
            patch.set(DELETE_FROM_PRIMITIVE_LIST + name, removed);
        }
        return missing(modified, original, order);
    }

    private static ArrayNode missing(ArrayNode all, ArrayNode present, ElementOrder order) {
        ArrayNode missing = JsonNodeFactory.instance.arrayNode();
        all.forEach(value -> {
            if (order.indexOf(present, value) < 0) {
                missing.add(value);
            }
        });
        return missing;
    }

    private ArrayNode diffElements(ArrayNode original, ArrayNode modified, String path, String key) {
        ElementOrder order = new ElementOrder(key);
        ArrayNode changes = JsonNodeFactory.instance.arrayNode();
        for (JsonNode after : modified) {
            int index = order.indexOf(original, after);
            if (index < 0) {
                changes.add(after.deepCopy());
                continue;
            }
            ObjectNode change = diffObject((ObjectNode) original.get(index), (ObjectNode) after, path);
            if (!change.isEmpty()) {
                if (keys.retainsKeys(path)) {
                    change.set(RETAIN_KEYS, names(after));
                }
                changes.add(change.set(key, order.identity(after)));
            }
        }
        for (JsonNode element : missing(original, modified, order)) {
            ObjectNode removal = JsonNodeFactory.instance.objectNode().put(PATCH, DELETE);
            changes.add(removal.set(key, order.identity(element)));
        }
        return changes;
    }

    private static ArrayNode names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        ArrayNode result = JsonNodeFactory.instance.arrayNode();
        Ordering.natural().sortedCopy(names).forEach(result::add);
        return result;
    }
}
