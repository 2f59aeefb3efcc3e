package dev.podcache.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** The fields of a patch that are no fields of the object. */
final class Directives {

    static final String PATCH = "$patch";
    static final String DELETE = "delete";
    static final String REPLACE = "replace";
    static final String RETAIN_KEYS = "$retainKeys";
    static final String SET_ELEMENT_ORDER = "$setElementOrder/";
    static final String DELETE_FROM_PRIMITIVE_LIST = "$deleteFromPrimitiveList/";

    private Directives() {}

    /** {@code path} of a field below {@code parent}. */
    static String path(String parent, String field) {
        return parent.isEmpty() ? field : parent + "." + field;
    }

    /**
     * A copy of a patch's value as it is where nothing was before: without directives, and
     * without what it would remove.
     */
    static JsonNode withoutDirectives(JsonNode patch) {
        JsonNode copy = patch.deepCopy();
        drop(copy);
        return copy;
    }

    private static void drop(JsonNode node) {
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
        node.forEach(Directives::drop);
    }
}
