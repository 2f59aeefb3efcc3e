package dev.podcache.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * The directives of a strategic merge patch: fields that tell the server how to merge, and never become part of the
 * object.
 */
final class Directives {

    static final String PATCH = "$patch";
    static final String DELETE = "delete";
    static final String REPLACE = "replace";
    static final String RETAIN_KEYS = "$retainKeys";
    static final String SET_ELEMENT_ORDER = "$setElementOrder/";
    static final String DELETE_FROM_PRIMITIVE_LIST = "$deleteFromPrimitiveList/";

    private Directives() {}

    /** Returns the path of {@code field} below {@code parent}, which is empty for the whole object. */
    static String path(String parent, String field) {
        return parent.isEmpty() ? field : parent + "." + field;
    }

    /**
     * Returns a copy of a patch's value for an object that has no such value yet: without directives, nulls and
     * elements to delete.
     */
    static JsonNode withoutDirectives(JsonNode patch) {
        JsonNode copy = patch.deepCopy();
        removeDirectives(copy);
        return copy;
    }

    private static void removeDirectives(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.properties()
                    .removeIf(field -> field.getKey().equals(PATCH)
                            || field.getKey().equals(RETAIN_KEYS)
                            || field.getKey().startsWith(SET_ELEMENT_ORDER)
                            || field.getKey().startsWith(DELETE_FROM_PRIMITIVE_LIST)
                            || field.getValue().isNull());
        } else if (node instanceof ArrayNode array) {
            for (int i = array.size() - 1; i >= 0; i--) {
                if (array.get(i).has(PATCH)) {
                    array.remove(i);
                }
            }
        }
        node.forEach(Directives::removeDirectives);
    }
}
