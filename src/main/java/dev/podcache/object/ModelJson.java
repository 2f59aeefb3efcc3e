package dev.podcache.object;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Converts between the classes of fabric8's model and JSON trees. Thread-safe.
 *
 * <p>Nothing else may: fabric8 7 annotates its model for Jackson 2, fabric8 8 for Jackson 3. A mapper of the other version
 * reads and writes the model without an error, and wrongly. So fabric8's own serialization writes and reads it here, as text;
 * trees are always of Jackson 2.
 *
 * @hidden
 */
@NotApi
public final class ModelJson {

    private static final JsonMapper TREES = JsonMapper.builder().build();

    /** Both versions of Jackson end their messages with it, and have no class in common that tells it. */
    private static final String CHAIN = "(through reference chain: ";

    private static final Pattern STEP = Pattern.compile("\\[(?:\"([^\"]*)\"|(\\d+))]");

    private ModelJson() {}

    /** Made at the first use, because it takes time and memory. */
    private static final class Fabric8 {
        static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();
    }

    /**
     * Returns an object of the model, or a part of one, as JSON.
     *
     * @throws IllegalArgumentException if it cannot be written
     */
    public static String text(Object model) {
        try {
            return Fabric8.SERIALIZATION.asJson(model);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("cannot be written as JSON: a " + model.getClass(), e);
        }
    }

    /**
     * Returns an object of the model, or a part of one that is an object in JSON, as a tree. The tree shares nothing with it.
     * Numbers have the node types that they have in parsed JSON.
     *
     * @throws IllegalArgumentException if it cannot be written
     */
    public static ObjectNode tree(Object model) {
        try {
            return (ObjectNode) TREES.readTree(text(model));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("fabric8 wrote what is no JSON: a " + model.getClass(), e);
        }
    }

    /**
     * Converts a tree to an object of the model. Fields that the class does not know are kept where the class can.
     *
     * @throws ModelMismatchException if a value has the wrong type
     */
    public static <T> T model(JsonNode tree, Class<T> type) {
        @Nullable T model;
        try {
            model = Fabric8.SERIALIZATION.unmarshal(tree.toString(), type);
        } catch (RuntimeException e) {
            throw new ModelMismatchException(path(e));
        }
        if (model == null) {
            throw new ModelMismatchException("");
        }
        return model;
    }

    /** Converts plain values, such as a map that was read from YAML, to an object of the model; otherwise as above. */
    public static <T> T model(Object values, Class<T> type) {
        return model(treeOfValues(values), type);
    }

    /** Returns plain values, such as a map that was read from YAML, as a tree. */
    public static JsonNode treeOfValues(Object values) {
        return TREES.valueToTree(values);
    }

    /** Returns a deep copy of an object of the model. */
    public static <T> T copy(T model, Class<T> type) {
        return model(tree(model), type);
    }

    private static String path(Throwable failure) {
        return Stream.iterate(failure, cause -> cause != null, Throwable::getCause)
                .map(Throwable::getMessage)
                .filter(message -> message != null && message.contains(CHAIN))
                .findFirst()
                .map(message -> steps(message.substring(message.lastIndexOf(CHAIN))))
                .orElse("");
    }

    private static String steps(String chain) {
        StringBuilder path = new StringBuilder();
        Matcher step = STEP.matcher(chain);
        while (step.find()) {
            if (step.group(1) == null) {
                path.append('[').append(step.group(2)).append(']');
            } else {
                path.append(path.isEmpty() ? "" : ".").append(step.group(1));
            }
        }
        return path.toString();
    }
}
