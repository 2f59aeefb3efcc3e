package dev.podcache.apiserver.fabric8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.common.base.Strings;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.ServerJson;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Decodes the answer to a LIST. One scan finds where each item starts and ends. The {@link ObjectDecoder} then decodes
 * each item by itself, so the size of an item is exact, and LIST, GET and WATCH share one decoder.
 */
final class Fabric8ListDecoder<T> {

    private final ObjectKind<?> kind;
    private final ObjectDecoder<T> decoder;

    Fabric8ListDecoder(ObjectKind<?> kind, ObjectDecoder<T> decoder) {
        this.kind = kind;
        this.decoder = decoder;
    }

    /**
     * One page of a list.
     *
     * @param next the continue token for the next page, empty on the last
     */
    record Page<T>(Listed<T> listed, String next) {}

    /**
     * Decodes one page of a list.
     *
     * @throws ApiServerException {@link FailureReason#UNREADABLE} if it is not a list of this kind or has no
     *     resourceVersion
     */
    Page<T> decode(byte[] json) {
        try (JsonParser parser = ServerJson.FACTORY.createParser(json)) {
            return read(parser, json);
        } catch (IOException notJson) {
            throw unreadable(json, "is not valid JSON");
        }
    }

    private Page<T> read(JsonParser parser, byte[] json) throws IOException {
        if (parser.nextToken() != JsonToken.START_OBJECT) {
            throw unreadable(json, json.length == 0 ? "is empty" : "is not a JSON object");
        }
        String listKind = null;
        ListMetadata metadata = ListMetadata.NONE;
        List<Fetched<T>> items = List.of();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String field = parser.currentName();
            parser.nextToken();
            switch (field) {
                case "kind" -> listKind = parser.getValueAsString();
                case "metadata" -> metadata = metadata(parser);
                case "items" -> items = items(parser, json);
                default -> parser.skipChildren();
            }
        }
        if (!kind.isListKind(listKind)) {
            throw unreadable(json, "is not a " + kind.name() + "List");
        }
        if (metadata.version.isEmpty()) {
            throw unreadable(json, "has no metadata.resourceVersion");
        }
        return new Page<>(new Listed<>(items, metadata.version), metadata.next);
    }

    /** The metadata of a list; a missing field is empty. */
    private record ListMetadata(String version, String next) {
        static final ListMetadata NONE = new ListMetadata("", "");
    }

    private static ListMetadata metadata(JsonParser parser) throws IOException {
        String version = null;
        String next = null;
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            parser.skipChildren();
            return ListMetadata.NONE;
        }
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String field = parser.currentName();
            parser.nextToken();
            switch (field) {
                case "resourceVersion" -> version = parser.getValueAsString();
                case "continue" -> next = parser.getValueAsString();
                default -> {}
            }
            parser.skipChildren();
        }
        return new ListMetadata(Strings.nullToEmpty(version), Strings.nullToEmpty(next));
    }

    private List<Fetched<T>> items(JsonParser parser, byte[] json) throws IOException {
        List<Fetched<T>> items = new ArrayList<>();
        if (parser.currentToken() != JsonToken.START_ARRAY) {
            // Go can encode an empty list as null
            parser.skipChildren();
            return items;
        }
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            int at = (int) parser.currentTokenLocation().getByteOffset();
            parser.skipChildren();
            int end = (int) parser.currentLocation().getByteOffset();
            if (decoder.skippedVersion(json, at, end - at) == null) {
                items.add(decoder.decode(json, at, end - at));
            }
        }
        return items;
    }

    private ApiServerException unreadable(byte[] json, String why) {
        return ApiServerException.withoutAnswer(
                FailureReason.UNREADABLE,
                "reading a list of " + kind.plural(),
                "the answer (" + json.length + " bytes) " + why,
                null);
    }
}
