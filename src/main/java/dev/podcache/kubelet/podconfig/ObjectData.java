package dev.podcache.kubelet.podconfig;

import com.google.common.collect.Iterables;
import dev.podcache.kubelet.runtime.ByteText;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Secret;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The content of a Secret or ConfigMap, as text for variables and as bytes for files. Never to be logged. */
final class ObjectData {

    private final Origin origin;
    private final Map<String, String> plain;
    private final Map<String, String> encoded;

    private record Origin(ObjectKind<?> kind, ObjectKey key, ConfigTarget target) {}

    private ObjectData(Origin origin, Map<String, String> plain, Map<String, String> encoded) {
        this.origin = origin;
        this.plain = plain;
        this.encoded = encoded;
    }

    /** Returns the content of {@code secret}; failures name {@code target}. */
    static ObjectData of(Secret secret, ObjectKey key, ConfigTarget target) {
        return new ObjectData(
                new Origin(ObjectKind.SECRET, key, target), Map.of(), Nullables.orEmpty(secret.getData()));
    }

    /** Returns the content of {@code configMap}; failures name {@code target}. */
    static ObjectData of(ConfigMap configMap, ObjectKey key, ConfigTarget target) {
        return new ObjectData(
                new Origin(ObjectKind.CONFIG_MAP, key, target),
                Nullables.orEmpty(configMap.getData()),
                Nullables.orEmpty(configMap.getBinaryData()));
    }

    /** Returns the kind and key of the object, such as {@code Secret shop/db}. */
    String name() {
        return origin.kind.name() + " " + origin.key;
    }

    /** Returns the keys for variables: all of a Secret, the keys in {@code data} of a ConfigMap. */
    Iterable<String> variables() {
        return forVariables().keySet();
    }

    /**
     * Returns the value of a key as text, or null if there is no such key for variables. What is not UTF-8 is written as
     * {@link ByteText} does.
     */
    @Nullable
    String variable(String dataKey) {
        String value = forVariables().get(dataKey);
        if (value == null || origin.kind.equals(ObjectKind.CONFIG_MAP)) {
            return value;
        }
        return ByteText.of(decoded(dataKey, value));
    }

    /** Returns the keys for files: all keys; for a ConfigMap, the keys in {@code data} come first. */
    Iterable<String> files() {
        return Iterables.concat(plain.keySet(), encoded.keySet());
    }

    /** Returns the value of a key as bytes, or null if there is no such key. */
    byte @Nullable [] file(String dataKey) {
        String text = plain.get(dataKey);
        if (text != null) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        String value = encoded.get(dataKey);
        return value == null ? null : decoded(dataKey, value);
    }

    /** Returns the message for a volume item that refers to a key that does not exist. */
    String missingKey(String dataKey) {
        return (origin.kind.equals(ObjectKind.SECRET)
                        ? "references non-existent secret key: "
                        : "configmap references non-existent config key: ")
                + dataKey;
    }

    private Map<String, String> forVariables() {
        return origin.kind.equals(ObjectKind.SECRET) ? encoded : plain;
    }

    private byte[] decoded(String dataKey, String value) {
        try {
            return Base64.getDecoder().decode(value);
        } catch (IllegalArgumentException e) {
            // no cause: its message quotes the content
            throw origin.target.failure("the value of key " + dataKey + " in " + name() + " is not base64");
        }
    }
}
