package dev.podcache.embedded;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.type.LogicalType;
import java.io.IOException;
import java.util.stream.Collectors;

/**
 * Converts between fabric8's model classes and JSON trees. Exception messages contain names of fields but no values,
 * which may be secret.
 */
final class Json {

    /** Supports java.time, which the model of Lease uses. */
    static final ObjectMapper MAPPER = JsonMapper.builder().findAndAddModules().build();

    /** Refuses a number or boolean where a string is expected, as the decoder of Go does. */
    private static final ObjectMapper STRICT = JsonMapper.builder()
            .findAndAddModules()
            .withCoercionConfig(
                    LogicalType.Textual,
                    coercions -> coercions
                            .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                            .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
            .build();

    private Json() {}

    /**
     * Returns {@code model} as a JSON tree. Converts by way of bytes, so that numbers have the same node types as in a
     * parsed request and compare as equal.
     */
    static ObjectNode tree(Object model) {
        try {
            return (ObjectNode) MAPPER.readTree(MAPPER.writeValueAsBytes(model));
        } catch (IOException e) {
            throw new IllegalArgumentException("cannot be written as JSON: a " + model.getClass(), e);
        }
    }

    /**
     * Converts a JSON tree to a model class.
     *
     * @throws StatusException 400 if a value has the wrong type
     */
    static <T> T model(JsonNode tree, Class<T> model) {
        try {
            return STRICT.treeToValue(tree, model);
        } catch (JsonProcessingException e) {
            throw StatusException.badRequest(model.getSimpleName() + " in version \"v1\" cannot be handled as a "
                    + model.getSimpleName() + ": wrong type of value" + at(e));
        }
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

    private static String at(JsonProcessingException e) {
        if (!(e instanceof JsonMappingException mapping)) {
            return "";
        }
        String path = mapping.getPath().stream()
                .map(step -> step.getFieldName() == null ? "[" + step.getIndex() + "]" : step.getFieldName())
                .collect(Collectors.joining("."));
        return path.isEmpty() ? "" : " at " + path;
    }
}
