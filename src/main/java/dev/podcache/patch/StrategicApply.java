package dev.podcache.patch;

import static dev.podcache.patch.Directives.DELETE;
import static dev.podcache.patch.Directives.DELETE_FROM_PRIMITIVE_LIST;
import static dev.podcache.patch.Directives.PATCH;
import static dev.podcache.patch.Directives.REPLACE;
import static dev.podcache.patch.Directives.RETAIN_KEYS;
import static dev.podcache.patch.Directives.SET_ELEMENT_ORDER;
import static dev.podcache.patch.Directives.path;
import static dev.podcache.patch.Directives.withoutDirectives;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Implements {@link StrategicMergePatch#apply}. Works on copies. */
final class StrategicApply {

    private final MergeKeys keys;

    StrategicApply(MergeKeys keys) {
        this.keys = keys;
    }

    ObjectNode apply(ObjectNode original, ObjectNode patch) {
        return mergeObject(original.deepCopy(), patch, "");
    }

    private ObjectNode mergeObject(ObjectNode object, ObjectNode patch, String path) {
        JsonNode directive = patch.get(PATCH);
        if (directive != null) {
            return replacement(directive.asText(), patch, path);
        }
        retainKeys(object, patch, path);
        Map<String, JsonNode> oldOrders = oldOrders(object, patch);
        for (Map.Entry<String, JsonNode> change : patch.properties()) {
            String field = change.getKey();
            requireList(field, change.getValue());
            if (field.startsWith(SET_ELEMENT_ORDER)) {
                requireOrder(patch, field.substring(SET_ELEMENT_ORDER.length()), path);
            }
            if (field.startsWith(DELETE_FROM_PRIMITIVE_LIST)) {
                removeValues(object, field.substring(DELETE_FROM_PRIMITIVE_LIST.length()), change.getValue());
            } else if (!field.startsWith(SET_ELEMENT_ORDER) && !field.equals(RETAIN_KEYS)) {
                mergeField(object, field, change.getValue(), path(path, field));
            }
        }
        // only after all lists are merged: a patch may have its fields in any order
        oldOrders.forEach((field, oldOrder) ->
                arrange(object, field, oldOrder, patch.path(SET_ELEMENT_ORDER + field), path(path, field)));
        return object;
    }

    private static void requireList(String field, JsonNode value) {
        if (field.startsWith(DELETE_FROM_PRIMITIVE_LIST) && !value.isArray()) {
            throw PatchException.malformed("a $deleteFromPrimitiveList of the patch is not a list");
        }
        if (field.startsWith(SET_ELEMENT_ORDER) && !value.isArray()) {
            throw PatchException.unforeseen("a $setElementOrder of the patch is not a list");
        }
    }

    /** Requires the patch of a list to have its elements in the order of its $setElementOrder, unless that is empty. */
    private void requireOrder(ObjectNode patch, String field, String parent) {
        JsonNode list = patch.get(field);
        String path = path(parent, field);
        String key = keys.keyOf(path);
        if (list == null || key == null) {
            return;
        }
        if (!list.isArray()) {
            throw PatchException.unforeseen("\"" + path + "\" has a $setElementOrder in the patch, but is not a list");
        }
        JsonNode order = patch.path(SET_ELEMENT_ORDER + field);
        if (!order.isEmpty() && !new ElementOrder(key).isFollowed(order, list)) {
            throw PatchException.unforeseen("the list at \"" + path + "\" does not match its $setElementOrder");
        }
    }

    /** Returns the lists that the patch orders as they are before the merge, which replaces them. */
    private static Map<String, JsonNode> oldOrders(ObjectNode object, ObjectNode patch) {
        Map<String, JsonNode> orders = new HashMap<>();
        for (Map.Entry<String, JsonNode> change : patch.properties()) {
            if (change.getKey().startsWith(SET_ELEMENT_ORDER)) {
                String field = change.getKey().substring(SET_ELEMENT_ORDER.length());
                orders.put(field, object.path(field));
            }
        }
        return orders;
    }

    private static ObjectNode replacement(String directive, ObjectNode patch, String path) {
        return switch (directive) {
            case REPLACE -> (ObjectNode) withoutDirectives(patch);
            case DELETE -> JsonNodeFactory.instance.objectNode();
            default -> throw PatchException.unforeseen("unknown $patch directive at \"" + path + "\"");
        };
    }

    private static void retainKeys(ObjectNode object, ObjectNode patch, String path) {
        JsonNode retained = patch.get(RETAIN_KEYS);
        if (retained == null) {
            return;
        }
        Set<String> names = new HashSet<>();
        retained.forEach(name -> names.add(name.asText()));
        patch.properties().forEach(change -> {
            if (!change.getKey().startsWith("$") && !change.getValue().isNull() && !names.contains(change.getKey())) {
                throw PatchException.malformed("$retainKeys at \"" + path + "\" lacks a field that the patch sets");
            }
        });
        object.properties().removeIf(field -> !names.contains(field.getKey()));
    }

    private void mergeField(ObjectNode object, String field, JsonNode patch, String path) {
        JsonNode original = object.get(field);
        if (patch.isNull()) {
            object.remove(field);
        } else if (original instanceof ObjectNode child && patch instanceof ObjectNode childPatch) {
            object.set(field, mergeObject(child, childPatch, path));
        } else if (original instanceof ArrayNode list && patch instanceof ArrayNode listPatch) {
            object.set(field, mergeList(list, listPatch, path));
        } else {
            object.set(field, withoutDirectives(patch));
        }
    }

    private JsonNode mergeList(ArrayNode original, ArrayNode patch, String path) {
        String key = keys.keyOf(path);
        if (key == null) {
            return withoutDirectives(patch);
        }
        if (key.equals(MergeKeys.VALUES)) {
            return mergeValues(original, patch);
        }
        for (JsonNode element : patch) {
            if (element.path(PATCH).asText().equals(REPLACE)) {
                return withoutDirectives(patch);
            }
        }
        return mergeElements(original, patch, path, new ElementOrder(key));
    }

    private static ArrayNode mergeValues(ArrayNode original, ArrayNode patch) {
        ElementOrder order = new ElementOrder(MergeKeys.VALUES);
        ArrayNode merged = original.deepCopy();
        patch.forEach(value -> {
            if (order.indexOf(merged, value) < 0) {
                merged.add(value);
            }
        });
        return order.arrange(merged, patch, original);
    }

    private ArrayNode mergeElements(ArrayNode original, ArrayNode patch, String path, ElementOrder order) {
        ArrayNode merged = original.deepCopy();
        ArrayNode named = JsonNodeFactory.instance.arrayNode();
        for (JsonNode element : patch) {
            if (!(element instanceof ObjectNode change)) {
                throw PatchException.unforeseen("the list at \"" + path + "\" has elements that are not objects");
            }
            if (change.has(PATCH)) {
                removeElement(merged, change, path, order);
                continue;
            }
            named.add(change);
            int index = order.indexOf(merged, change);
            if (index >= 0) {
                merged.set(index, mergeObject((ObjectNode) merged.get(index), change, path));
            } else {
                merged.add(withoutDirectives(change));
            }
        }
        return order.arrange(merged, named, original);
    }

    private static void removeElement(ArrayNode merged, ObjectNode change, String path, ElementOrder order) {
        if (!change.path(PATCH).asText().equals(DELETE)) {
            throw PatchException.unforeseen("unknown $patch directive in the list at \"" + path + "\"");
        }
        for (int index = order.indexOf(merged, change); index >= 0; index = order.indexOf(merged, change)) {
            merged.remove(index);
        }
    }

    private static void removeValues(ObjectNode object, String field, JsonNode values) {
        if (object.get(field) instanceof ArrayNode list) {
            ElementOrder order = new ElementOrder(MergeKeys.VALUES);
            ArrayNode kept = JsonNodeFactory.instance.arrayNode();
            list.forEach(value -> {
                if (order.indexOf(values, value) < 0) {
                    kept.add(value);
                }
            });
            object.set(field, kept);
        }
    }

    private void arrange(ObjectNode object, String field, JsonNode oldOrder, JsonNode newOrder, String path) {
        String key = keys.keyOf(path);
        if (key == null) {
            throw PatchException.unforeseen(
                    "the patch has a $setElementOrder for \"" + path + "\", which does not merge");
        }
        if (object.get(field) instanceof ArrayNode list) {
            object.set(field, new ElementOrder(key).arrange(list, newOrder, oldOrder));
        }
    }
}
