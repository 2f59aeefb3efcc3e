package dev.podcache.apiserver.fabric8;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the answer to a LIST. The bytes are scanned once for where each item begins and ends; each item
 * then goes to the {@link ObjectDecoder} by itself, so its size is exactly what it took on the wire, and
 * one code path decodes whatever comes.
 */
final class Fabric8ListDecoder<T> {

    private static final JsonFactory JSON = new JsonFactory();

    private final ObjectKind<?> kind;
    private final ObjectDecoder<T> decoder;

    Fabric8ListDecoder(ObjectKind<?> kind, ObjectDecoder<T> decoder) {
        this.kind = kind;
        this.decoder = decoder;
    }

    /**
     * Decodes the answer.
     *
     * @throws ApiServerException {@link FailureReason#UNREADABLE} if it is no list of this kind
     *     or has no resourceVersion
     */
    Listed<T> decode(byte[] json) {
        try (JsonParser parser = JSON.createParser(json)) {
            return read(parser, json);
        } catch (IOException notJson) {
            throw unreadable(json, "is broken");
        }
    }

    private Listed<T> read(JsonParser parser, byte[] json) throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw unreadable(json, json.length == 0 ? "is empty" : "is no JSON object");
        }
        String listKind = null;
        String version = null;
        ImmutableList<Fetched<T>> items = ImmutableList.of();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String field = parser.currentName();
            parser.nextToken();
            switch (field) {
                case "kind" -> listKind = parser.getValueAsString();
                case "metadata" -> version = resourceVersion(parser);
                case "items" -> items = items(parser, json);
                default -> parser.skipChildren();
            }
        }
        if (!(kind.name() + "List").equals(listKind)) {
            throw unreadable(json, "is of another kind");
        }
        if (version == null || version.isEmpty()) {
            throw unreadable(json, "has no metadata.resourceVersion");
        }
        return new Listed<>(items, version);
    }

    private static @Nullable String resourceVersion(JsonParser parser) throws IOException {
        String version = null;
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return null;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            boolean wanted = parser.currentName().equals("resourceVersion");
            parser.nextToken();
            if (wanted) {
                version = parser.getValueAsString();
            }
            parser.skipChildren();
        }
        return version;
    }

    private ImmutableList<Fetched<T>> items(JsonParser parser, byte[] json) throws IOException {
        ImmutableList.Builder<Fetched<T>> items = ImmutableList.builder();
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            // Go writes an empty list as null too
            parser.skipChildren();
            return items.build();
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            int at = (int) parser.currentTokenLocation().getByteOffset();
            parser.skipChildren();
            int end = (int) parser.currentLocation().getByteOffset();
            items.add(decoder.decode(json, at, end - at));
        }
        return items.build();
    }

    private ApiServerException unreadable(byte[] json, String why) {
        return ApiServerException.withoutAnswer(
                FailureReason.UNREADABLE,
                "reading a list of " + kind.plural(),
                "the answer (" + json.length + " bytes) " + why,
                null);
    }
}
