package dev.podcache.object;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.math.DoubleMath;
import io.fabric8.kubernetes.api.model.Quantity;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.ZonedDateTime;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Treats JSON trees as the API server does where fabric8's model is more tolerant. It knows the fields of a class of the model
 * by its getters, so it needs no version of Jackson. Thread-safe.
 *
 * @hidden
 */
@NotApi
public final class ModelTypes {

    private static final String MODEL = "io.fabric8.kubernetes.api.model.";

    private static final ClassValue<Map<String, Type>> FIELDS = new ClassValue<>() {
        @Override
        protected Map<String, Type> computeValue(Class<?> model) {
            Map<String, Type> fields = new HashMap<>();
            for (Method method : model.getMethods()) {
                String name = method.getName();
                if (name.startsWith("get") && name.length() > 3 && method.getParameterCount() == 0) {
                    fields.put(
                            Character.toLowerCase(name.charAt(3)) + name.substring(4), method.getGenericReturnType());
                }
            }
            return fields;
        }
    };

    private ModelTypes() {}

    /**
     * A value of another type than the API has in its place. Its text is {@code PATH must be ALLOWED}.
     *
     * @hidden
     */
    public record Mistyped(String path, String allowed) {

        @Override
        public String toString() {
            return path + " must be " + allowed;
        }
    }

    /** Returns the first value that fabric8's model would take for another type; empty if there is none. */
    public static Optional<Mistyped> mistyped(JsonNode tree, Class<?> model) {
        return Optional.ofNullable(mistyped(tree, model, ""));
    }

    private static @Nullable Mistyped mistyped(JsonNode value, @Nullable Type type, String path) {
        if (value instanceof ObjectNode object) {
            for (Map.Entry<String, JsonNode> field : object.properties()) {
                String at = path.isEmpty() ? field.getKey() : path + "." + field.getKey();
                Mistyped found = mistyped(field.getValue(), field(type, field.getKey()), at);
                if (found != null) {
                    return found;
                }
            }
        } else if (value instanceof ArrayNode list) {
            for (int i = 0; i < list.size(); i++) {
                Mistyped found = mistyped(list.get(i), element(type), path + "[" + i + "]");
                if (found != null) {
                    return found;
                }
            }
        } else if (!value.isNull()) {
            String allowed = allowed(value, type);
            return allowed == null ? null : new Mistyped(path, allowed);
        }
        return null;
    }

    /** Returns what a value must be; null if it may be what it is. */
    private static @Nullable String allowed(JsonNode value, @Nullable Type type) {
        if (type == String.class || type == ZonedDateTime.class) {
            return value.isTextual() ? null : "text: put it in quotation marks";
        }
        if (type == Integer.class || type == Long.class) {
            // YAML has 80.0 too, which Go writes as 80
            boolean whole = value.isIntegralNumber()
                    || (value.isNumber() && DoubleMath.isMathematicalInteger(value.doubleValue()));
            return whole ? null : "a whole number, without quotation marks";
        }
        return type != Boolean.class || value.isBoolean() ? null : "true or false, without quotation marks";
    }

    /** Removes the fields of objects that are null, and makes an empty value of what is null in a map or list. */
    public static void settleNulls(JsonNode tree, Class<?> model) {
        settle(tree, model);
    }

    private static void settle(JsonNode value, @Nullable Type type) {
        if (value instanceof ObjectNode object) {
            if (!isMap(type)) {
                object.properties().removeIf(field -> field.getValue().isNull());
            }
            object.properties().forEach(field -> {
                Type of = field(type, field.getKey());
                if (field.getValue().isNull()) {
                    field.setValue(empty(of));
                }
                settle(field.getValue(), of);
            });
        } else if (value instanceof ArrayNode list) {
            Type of = element(type);
            for (int i = 0; i < list.size(); i++) {
                if (list.get(i).isNull()) {
                    list.set(i, empty(of));
                }
                settle(list.get(i), of);
            }
        }
    }

    private static JsonNode empty(@Nullable Type type) {
        JsonNodeFactory json = JsonNodeFactory.instance;
        if (type == String.class) {
            return json.textNode("");
        }
        if (type == Quantity.class) {
            return json.textNode("0");
        }
        if (type == Integer.class || type == Long.class) {
            return json.numberNode(0);
        }
        return type instanceof Class<?> model && model.getName().startsWith(MODEL)
                ? json.objectNode()
                : json.nullNode();
    }

    /** Returns the type of a field of an object or a map; null if it is not known. */
    private static @Nullable Type field(@Nullable Type type, String name) {
        if (type instanceof ParameterizedType map && isMap(type)) {
            return map.getActualTypeArguments()[1];
        }
        return type instanceof Class<?> model && model.getName().startsWith(MODEL)
                ? FIELDS.get(model).get(name)
                : null;
    }

    private static @Nullable Type element(@Nullable Type type) {
        return type instanceof ParameterizedType list
                        && list.getRawType() instanceof Class<?> raw
                        && Collection.class.isAssignableFrom(raw)
                ? list.getActualTypeArguments()[0]
                : null;
    }

    private static boolean isMap(@Nullable Type type) {
        return type instanceof ParameterizedType map
                && map.getRawType() instanceof Class<?> raw
                && Map.class.isAssignableFrom(raw);
    }
}
