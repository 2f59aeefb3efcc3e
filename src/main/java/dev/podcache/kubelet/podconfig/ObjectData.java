package dev.podcache.kubelet.podconfig;

import com.google.common.collect.Iterables;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Secret;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The content of a Secret or a ConfigMap, key by key, as variables see it and as files do. Not to be printed. */
final class ObjectData {

    private final Origin origin;
    private final Map<String, String> plain;
    private final Map<String, String> encoded;

    private record Origin(ObjectKind<?> kind, ObjectKey key, Subject subject) {}

    private ObjectData(Origin origin, Map<String, String> plain, Map<String, String> encoded) {
        this.origin = origin;
        this.plain = plain;
        this.encoded = encoded;
    }

    /** The content of {@code secret}, for {@code subject}. */
    static ObjectData of(Secret secret, ObjectKey key, Subject subject) {
        return new ObjectData(
                new Origin(ObjectKind.SECRET, key, subject), Map.of(), AbsentObject.orEmpty(secret.getData()));
    }

    /** The content of {@code configMap}, for {@code subject}. */
    static ObjectData of(ConfigMap configMap, ObjectKey key, Subject subject) {
        return new ObjectData(
                new Origin(ObjectKind.CONFIG_MAP, key, subject),
                AbsentObject.orEmpty(configMap.getData()),
                AbsentObject.orEmpty(configMap.getBinaryData()));
    }

    /** The kind and the object, such as {@code Secret shop/db}. */
    String name() {
        return origin.kind.name() + " " + origin.key;
    }

    /** Keys that can be variables: of a Secret all, of a ConfigMap those of its text. */
    Iterable<String> variables() {
        return forVariables().keySet();
    }

    /**
     * The value of a key as text, or null if no variable can have it.
     *
     * @throws PodConfigException if it is not UTF-8, which is all that a variable can be
     */
    @Nullable
    String variable(String dataKey) {
        String value = forVariables().get(dataKey);
        if (value == null || origin.kind == ObjectKind.CONFIG_MAP) {
            return value;
        }
        try {
            byte[] bytes = decoded(dataKey, value);
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            // without the cause: it would say where in the payload
            throw origin.subject.failure("the value of key " + dataKey + " in " + name()
                    + " is not UTF-8, so no environment variable can have it; use it as a file in a volume");
        }
    }

    /** Keys that can be files: all, those of text first. */
    Iterable<String> files() {
        return Iterables.concat(plain.keySet(), encoded.keySet());
    }

    /** The bytes of a key, or null if there is no such key. */
    byte @Nullable [] file(String dataKey) {
        String text = plain.get(dataKey);
        if (text != null) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        String value = encoded.get(dataKey);
        return value == null ? null : decoded(dataKey, value);
    }

    private Map<String, String> forVariables() {
        return origin.kind == ObjectKind.SECRET ? encoded : plain;
    }

    private byte[] decoded(String dataKey, String value) {
        try {
            return Base64.getDecoder().decode(value);
        } catch (IllegalArgumentException e) {
            // without the cause: its message quotes from the value
            throw origin.subject.failure("the value of key " + dataKey + " in " + name() + " is not base64");
        }
    }
}
