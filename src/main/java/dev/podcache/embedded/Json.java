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

/** Between fabric8's models and JSON trees. Failures name fields, never values: a value may be a secret. */
final class Json {

    /** Knows java.time, which Leases are written in. */
    static final ObjectMapper MAPPER = JsonMapper.builder().findAndAddModules().build();

    /** Takes no number for a string, as Go's decoder does not. */
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
     * As it would come over the wire: a tree that is made without bytes between has other
     * number types, which equal none.
     */
    static ObjectNode tree(Object model) {
        try {
            return (ObjectNode) MAPPER.readTree(MAPPER.writeValueAsBytes(model));
        } catch (IOException e) {
            throw new IllegalArgumentException("cannot be written as JSON: a " + model.getClass(), e);
        }
    }

    static <T> T model(JsonNode tree, Class<T> model) {
        try {
            return STRICT.treeToValue(tree, model);
        } catch (JsonProcessingException e) {
            throw StatusException.badRequest(model.getSimpleName() + " in version \"v1\" cannot be handled as a "
                    + model.getSimpleName() + ": wrong type of value" + at(e));
        }
    }

    /** The object or the empty object that is now there. */
    static ObjectNode object(ObjectNode parent, String field) {
        return parent.get(field) instanceof ObjectNode child ? child : parent.putObject(field);
    }

    /** Drops fields that are null, as decoding into Go's structs does. */
    static void dropNulls(JsonNode node) {
        if (node instanceof ObjectNode object) {
            object.properties().removeIf(field -> field.getValue().isNull());
        }
        node.forEach(Json::dropNulls);
    }

    /** Drops the field if it is an object or list without content, as Go's omitempty does. */
    static void dropIfEmpty(ObjectNode object, String field) {
        JsonNode value = object.get(field);
        if (value != null && value.isContainerNode() && value.isEmpty()) {
            object.remove(field);
        }
    }

    /** Makes {@code field} of {@code to} what it is of {@code from}, or nothing. */
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
