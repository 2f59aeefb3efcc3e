package dev.podcache.testing;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.introspect.BeanPropertyDefinition;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.ZonedDateTime;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** JSON of classes of fabric8's model with every field, and with what no class knows. */
public final class FullModels {

    private static final JsonMapper MODEL = JsonMapper.builder().build();
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    /** Classes that are no objects in JSON. */
    private static final Map<Class<?>, JsonNode> SCALARS = Map.of(
            String.class, JSON.textNode("text"),
            Integer.class, JSON.numberNode(1),
            Long.class, JSON.numberNode(2L),
            Boolean.class, JSON.booleanNode(true),
            Quantity.class, JSON.textNode("100m"),
            IntOrString.class, JSON.textNode("http"),
            MicroTime.class, JSON.textNode("2026-01-02T03:04:05.000006Z"),
            ZonedDateTime.class, JSON.textNode("2026-01-02T03:04:05.000006Z"));

    private FullModels() {}

    /** Returns an object of this class. Has {@code fieldOfTheFuture} in each object that a class of the model describes. */
    public static ObjectNode of(Class<?> model) {
        return (ObjectNode) full(MODEL.constructType(model), new HashSet<>());
    }

    /** Returns a JSON value of this type with every field; objects of a class within one of it are left out. */
    private static JsonNode full(JavaType type, Set<Class<?>> above) {
        Class<?> model = type.getRawClass();
        if (SCALARS.containsKey(model)) {
            return SCALARS.get(model);
        }
        if (type.isCollectionLikeType()) {
            return JSON.arrayNode().add(full(type.getContentType(), above));
        }
        if (type.isMapLikeType()) {
            return JSON.objectNode().set("key", full(type.getContentType(), above));
        }
        ObjectNode object = JSON.objectNode();
        if (!KubernetesResource.class.isAssignableFrom(model) || !above.add(model)) {
            return object;
        }
        for (BeanPropertyDefinition field :
                MODEL.getSerializationConfig().introspect(type).findProperties()) {
            object.set(field.getName(), full(field.getPrimaryType(), above));
        }
        above.remove(model);
        return object.put("fieldOfTheFuture", 7);
    }
}
