package dev.podcache.apiserver.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ErrorAnswer;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the lines of one watch, such as {@code {"type":"ADDED","object":{...}}} ({@code WatchEvent} of {@code
 * k8s.io/apimachinery/pkg/apis/meta/v1}). A line that cannot be decoded ends the watch with a failure, because
 * otherwise a change would be missed. Thread-safe if the decoder is.
 *
 * <p>One scan finds where the object starts and ends; the {@link ObjectDecoder} decodes this part. A failure never
 * quotes the line.
 */
final class WatchEvents<T> {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String LIST_END = "k8s.io/initial-events-end";
    private static final JsonFactory JSON = MAPPER.getFactory();

    private final String request;
    private final ObjectDecoder<T> decoder;

    /**
     * Creates a decoder for one watch.
     *
     * @param request names the request in messages
     */
    WatchEvents(String request, ObjectDecoder<T> decoder) {
        this.request = request;
        this.decoder = decoder;
    }

    /** The type of an event, and the position of its object in the line. */
    private record EventParts(@Nullable String type, int objectAt, int objectLength) {}

    /** Decodes one line. Never throws. */
    WatchEvent<T> decode(byte[] line, int offset, int length) {
        try {
            EventParts parts = scan(line, offset, length);
            int at = offset + parts.objectAt;
            return switch (Objects.requireNonNullElse(parts.type, "")) {
                case "ADDED", "MODIFIED" -> change(line, at, parts.objectLength, WatchEvent.Upserted::new);
                case "DELETED" -> change(line, at, parts.objectLength, WatchEvent.Deleted::new);
                case "BOOKMARK" -> bookmark(MAPPER.readTree(line, at, parts.objectLength));
                case "ERROR" -> error(line, at, parts.objectLength);
                default -> unreadable(length, "has an unknown type");
            };
        } catch (ApiServerException e) {
            return new WatchEvent.Ended<>(e);
        } catch (IOException notJson) {
            return unreadable(length, "is not valid JSON");
        } catch (RuntimeException | StackOverflowError undecodable) {
            // without the exception, which may quote the line
            return unreadable(length, "could not be decoded");
        }
    }

    private WatchEvent<T> change(byte[] line, int at, int length, Function<Fetched<T>, WatchEvent<T>> event) {
        String skipped = decoder.skippedVersion(line, at, length);
        return skipped == null ? event.apply(decoder.decode(line, at, length)) : new WatchEvent.Undecoded<>(skipped);
    }

    private static EventParts scan(byte[] line, int offset, int length) throws IOException {
        String type = null;
        int at = 0;
        int objectLength = 0;
        try (JsonParser parser = JSON.createParser(line, offset, length)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return new EventParts(null, 0, 0);
            }
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String field = parser.currentName();
                parser.nextToken();
                if (field.equals("type")) {
                    type = parser.getValueAsString();
                } else if (field.equals("object")) {
                    at = (int) parser.currentTokenLocation().getByteOffset();
                    parser.skipChildren();
                    objectLength = (int) parser.currentLocation().getByteOffset() - at;
                } else {
                    parser.skipChildren();
                }
            }
        }
        return new EventParts(type, at, objectLength);
    }

    private WatchEvent<T> bookmark(JsonNode object) {
        String version = object.path("metadata").path("resourceVersion").asText("");
        return version.isEmpty()
                ? unreadable(0, "is a bookmark without a resourceVersion")
                : new WatchEvent.Bookmark<>(version, endsList(object));
    }

    private static boolean endsList(JsonNode bookmark) {
        return bookmark.path("metadata")
                .path("annotations")
                .path(LIST_END)
                .asText("")
                .equals("true");
    }

    private WatchEvent<T> error(byte[] line, int at, int length) throws IOException {
        JsonNode status = MAPPER.readTree(line, at, length);
        // an ERROR without a code is treated as a fault of the server
        int code = status.path("code").asInt(500);
        ErrorAnswer answer = new ErrorAnswer(code, null, Arrays.copyOfRange(line, at, at + length));
        return new WatchEvent.Ended<>(answer.toException(request, Instant.EPOCH));
    }

    private WatchEvent<T> unreadable(int length, String why) {
        return new WatchEvent.Ended<>(ApiServerException.withoutAnswer(
                FailureReason.UNREADABLE, request, "an event (" + length + " bytes) " + why, null));
    }
}
