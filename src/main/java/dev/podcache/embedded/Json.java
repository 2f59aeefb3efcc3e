package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ModelMismatchException;
import dev.podcache.object.ModelTypes;
import java.util.Optional;

/**
 * Converts between fabric8's model classes and JSON trees. Exception messages contain names of fields but no values,
 * which may be secret.
 */
final class Json {

    /** For trees only. */
    static final ObjectMapper MAPPER = JsonMapper.builder().build();

    private Json() {}

    /**
     * Returns {@code model} as a JSON tree, with the node types of a parsed request, so that equal ones compare as equal.
     */
    static ObjectNode tree(Object model) {
        return ModelJson.tree(model);
    }

    /**
     * Converts a JSON tree to a model class. Takes no text for a number and the like, as the decoder of Go does.
     *
     * @throws StatusException 400 if a value has the wrong type
     */
    static <T> T model(JsonNode tree, Class<T> model) {
        Optional<ModelTypes.Mistyped> mistyped = ModelTypes.mistyped(tree, model);
        if (mistyped.isPresent()) {
            throw wrongType(model, mistyped.get().path());
        }
        try {
            return ModelJson.model(tree, model);
        } catch (ModelMismatchException e) {
            throw wrongType(model, e.path());
        }
    }

    private static StatusException wrongType(Class<?> model, String path) {
        return StatusException.badRequest(model.getSimpleName() + " in version \"v1\" cannot be handled as a "
                + model.getSimpleName() + ": wrong type of value" + (path.isEmpty() ? "" : " at " + path));
    }

    /** Returns the object at {@code field}. Creates an empty one if the field is missing or not an object. */
    static ObjectNode object(ObjectNode parent, String field) {
        return parent.get(field) instanceof ObjectNode child ? child : parent.putObject(field);
    }

    /** Removes all fields that are null, recursively, as decoding into the structs of Go does. */
    static void dropNulls(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.properties().removeIf(field -> field.getValue().isNull());
        }
        node.forEach(Json::dropNulls);
    }

    /** Removes the field if it is an empty object or list, as {@code omitempty} of Go does. */
    static void dropIfEmpty(ObjectNode object, String field) {
        JsonNode value = object.get(field);
        if (value != null && value.isContainerNode() && value.isEmpty()) {
            object.remove(field);
        }
    }

    /** Copies {@code field}. Removes it from {@code to} if {@code from} does not have it. */
    static void copy(JsonNode from, ObjectNode to, String field) {
        JsonNode value = from.get(field);
        if (value == null) {
            to.remove(field);
        } else {
            to.set(field, value);
        }
    }
}
