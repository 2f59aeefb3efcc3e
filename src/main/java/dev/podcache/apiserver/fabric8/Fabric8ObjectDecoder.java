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
 * Implements {@link ObjectDecoder} with fabric8's serialization, so objects are the same as from fabric8's own client.
 *
 * <p>Failures have no cause, because a Jackson exception quotes the value that it could not read, which may be secret.
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
        // the items of a list have no kind; a model class then returns its own, a generic object has to be told
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
     * @throws ApiServerException {@link FailureReason#UNREADABLE}, also if the object is not named {@code key}
     */
    Fetched<T> decodeNamed(ObjectKey key, byte[] json) {
        Fetched<T> fetched = decode(json, 0, json.length);
        ObjectMeta metadata = fetched.object().getMetadata();
        String namespace = Objects.requireNonNullElse(metadata.getNamespace(), "");
        if (!key.equals(ObjectKey.of(namespace, metadata.getName()))) {
            throw unreadable(json.length, "is not " + key + ", which was requested");
        }
        return fetched;
    }

    private T parse(byte[] json, int offset, int length) {
        // fabric8 parses everything that does not start with a brace as YAML
        if (firstCharacter(json, offset, length) != '{') {
            throw unreadable(length, length == 0 ? "is empty" : "is not a JSON object");
        }
        T object;
        try {
            object = serialization.unmarshal(new ByteArrayInputStream(json, offset, length), kind.model());
        } catch (RuntimeException e) {
            throw unreadable(length, "could not be decoded");
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
