package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.util.List;
import java.util.Objects;

/**
 * {@link ObjectDecoder} on fabric8's serialization, so that the objects are those that fabric8's own client would give.
 *
 * <p>Failures carry no cause: a Jackson exception quotes the value that it could not read, which may be a secret.
 */
final class Fabric8ObjectDecoder<T extends HasMetadata> implements ObjectDecoder<T> {

    private final ObjectKind<T> kind;
    private final KubernetesSerialization serialization;

    Fabric8ObjectDecoder(ObjectKind<T> kind, KubernetesSerialization serialization) {
        this.kind = kind;
        this.serialization = serialization;
    }

    @Override
    public Fetched<T> decode(byte[] json, int offset, int length) {
        T object = parse(json, offset, length);
        ObjectMeta metadata = object.getMetadata();
        // a list's items carry no kind: a model class says its own, an object without one is told
        if (object instanceof GenericKubernetesResource generic && generic.getKind() == null) {
            generic.setKind(kind.name());
            generic.setApiVersion(kind.apiVersion());
        }
        if (!kind.name().equals(object.getKind())) {
            throw unreadable(length, "is of another kind");
        }
        if (metadata == null || metadata.getName() == null || metadata.getName().isEmpty()) {
            throw unreadable(length, "has no metadata.name");
        }
        metadata.setManagedFields(List.of());
        return new Fetched<>(object, Objects.requireNonNullElse(metadata.getResourceVersion(), ""), length);
    }

    /**
     * Decodes the answer to a GET by name.
     *
     * @throws ApiServerException {@link FailureReason#UNREADABLE}, also if the object is not the one called {@code key}
     */
    Fetched<T> decodeNamed(ObjectKey key, byte[] json) {
        Fetched<T> fetched = decode(json, 0, json.length);
        ObjectMeta metadata = fetched.object().getMetadata();
        String namespace = Objects.requireNonNullElse(metadata.getNamespace(), "");
        if (!key.equals(ObjectKey.of(namespace, metadata.getName()))) {
            throw unreadable(json.length, "is not " + key + ", which was asked for");
        }
        return fetched;
    }

    private T parse(byte[] json, int offset, int length) {
        // fabric8 takes everything that does not begin with a brace for YAML
        if (firstCharacter(json, offset, length) != '{') {
            throw unreadable(length, length == 0 ? "is empty" : "is no JSON object");
        }
        T object;
        try {
            object = serialization.unmarshal(new ByteArrayInputStream(json, offset, length), kind.model());
        } catch (RuntimeException e) {
            throw unreadable(length, "does not have the form of one");
        }
        if (object == null) {
            throw unreadable(length, "is null");
        }
        return object;
    }

    private static int firstCharacter(byte[] json, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            if (json[i] != ' ' && json[i] != '\n' && json[i] != '\r' && json[i] != '\t') {
                return json[i];
            }
        }
        return -1;
    }

    private ApiServerException unreadable(int length, String why) {
        return ApiServerException.withoutAnswer(
                FailureReason.UNREADABLE, "reading a " + kind, "the answer (" + length + " bytes) " + why, null);
    }
}
