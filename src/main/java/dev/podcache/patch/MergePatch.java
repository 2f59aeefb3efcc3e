package dev.podcache.patch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** A JSON merge patch (RFC 7386): objects merge field by field, null removes a field, any other value replaces it. */
public final class MergePatch {

    private MergePatch() {}

    /** Returns {@code target} with {@code patch} applied. Modifies neither. */
    public static JsonNode apply(JsonNode target, JsonNode patch) {
        if (!(patch instanceof ObjectNode changes)) {
            return patch.deepCopy();
        }
        ObjectNode result =
                target instanceof ObjectNode object ? object.deepCopy() : JsonNodeFactory.instance.objectNode();
        changes.properties().forEach(change -> {
            String field = change.getKey();
            if (change.getValue().isNull()) {
                result.remove(field);
            } else {
                result.set(field, apply(result.path(field), change.getValue()));
            }
        });
        return result;
    }
}
