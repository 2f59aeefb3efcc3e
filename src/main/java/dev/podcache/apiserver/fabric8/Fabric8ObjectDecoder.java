package dev.podcache.apiserver.fabric8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.ServerJson;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Implements {@link ObjectDecoder} with fabric8's serialization, so objects are the same as from fabric8's own client.
 *
 * <p>Failures have no cause, because a Jackson exception quotes the value that it could not read, which may be secret.
 */
final class Fabric8ObjectDecoder<T extends HasMetadata> implements ObjectDecoder<T> {

    private static final ObjectReader DEEP = new JsonMapper(ServerJson.FACTORY.copy()).readerForMapOf(Object.class);

    private final ObjectKind<T> kind;
    private final KubernetesSerialization serialization;

    Fabric8ObjectDecoder(ObjectKind<T> kind, KubernetesSerialization serialization) {
        this.kind = kind;
        this.serialization = serialization;
    }

    /**
     * Returns a decoder of those objects whose names {@code names} accepts.
     *
     * @param names called on any thread; must be brief
     */
    ObjectDecoder<T> filtered(Predicate<String> names) {
        return new Filtered<>(this, names);
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
            if (!kind.model().equals(GenericKubernetesResource.class)) {
                throw unreadable(length, "could not be decoded");
            }
            object = kind.model().cast(deep(json, offset, length));
        }
        if (object == null) {
            throw unreadable(length, "is null");
        }
        return object;
    }

    /** Decodes a custom resource that fabric8 refuses to, because it has more levels or longer names than Jackson expects. */
    private GenericKubernetesResource deep(byte[] json, int offset, int length) {
        try {
            Map<String, Object> fields = DEEP.readValue(json, offset, length);
            GenericKubernetesResource resource = new GenericKubernetesResource();
            resource.setApiVersion((String) fields.remove("apiVersion"));
            resource.setKind((String) fields.remove("kind"));
            resource.setMetadata(
                    ModelJson.model(Objects.requireNonNullElse(fields.remove("metadata"), Map.of()), ObjectMeta.class));
            resource.setAdditionalProperties(fields);
            return resource;
        } catch (IOException | ClassCastException | IllegalArgumentException e) {
            throw unreadable(length, "could not be decoded");
        }
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

    /**
     * Decodes only the objects whose names a predicate accepts. Of the others it reads the JSON up to the end of their
     * metadata, for the name and the version, and builds no object.
     */
    private static final class Filtered<T> implements ObjectDecoder<T> {

        private final ObjectDecoder<T> decoder;
        private final Predicate<String> names;

        Filtered(ObjectDecoder<T> decoder, Predicate<String> names) {
            this.decoder = decoder;
            this.names = names;
        }

        @Override
        public Fetched<T> decode(byte[] json, int offset, int length) {
            return decoder.decode(json, offset, length);
        }

        @Override
        public @Nullable String skippedVersion(byte[] json, int offset, int length) {
            try (JsonParser parser = ServerJson.FACTORY.createParser(json, offset, length)) {
                return parser.nextToken() == JsonToken.START_OBJECT ? versionUnlessAccepted(parser) : null;
            } catch (IOException notJson) {
                // the decoder reports what is wrong
                return null;
            }
        }

        private @Nullable String versionUnlessAccepted(JsonParser parser) throws IOException {
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                boolean isMetadata = parser.currentName().equals("metadata");
                JsonToken value = parser.nextToken();
                if (isMetadata && value == JsonToken.START_OBJECT) {
                    return versionInMetadata(parser);
                }
                parser.skipChildren();
            }
            return null;
        }

        private @Nullable String versionInMetadata(JsonParser parser) throws IOException {
            String name = null;
            String version = "";
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String field = parser.currentName();
                JsonToken value = parser.nextToken();
                if (value == JsonToken.VALUE_STRING && field.equals("name")) {
                    name = parser.getText();
                    if (names.test(name)) {
                        return null;
                    }
                } else if (value == JsonToken.VALUE_STRING && field.equals("resourceVersion")) {
                    version = parser.getText();
                }
                parser.skipChildren();
            }
            return name == null ? null : version;
        }
    }
}
