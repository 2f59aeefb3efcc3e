package dev.podcache.apiserver.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ErrorAnswer;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lines of one watch: {@code {"type":"ADDED","object":{...}}}, as {@code WatchEvent} of {@code
 * k8s.io/apimachinery/pkg/apis/meta/v1}. What cannot be read becomes the end of the watch with a cause, because going
 * on would mean to have missed something. Thread-safe if the decoder is.
 *
 * <p>The line is scanned once for where the object begins and ends, and that part goes to the {@link ObjectDecoder} as
 * it is; a failure never quotes any of it.
 */
final class WatchEvents<T> {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final JsonFactory JSON = MAPPER.getFactory();

    private final String what;
    private final ObjectDecoder<T> decoder;

    /**
     * The events of one watch.
     *
     * @param what the request, for messages
     */
    WatchEvents(String what, ObjectDecoder<T> decoder) {
        this.what = what;
        this.decoder = decoder;
    }

    /** Where in the line what stands. */
    private record EventParts(@Nullable String type, int objectAt, int objectLength) {}

    /** What one line tells. Never throws. */
    WatchEvent<T> decode(byte[] line, int offset, int length) {
        try {
            EventParts parts = scan(line, offset, length);
            int at = offset + parts.objectAt;
            return switch (Objects.requireNonNullElse(parts.type, "")) {
                case "ADDED", "MODIFIED" -> new WatchEvent.Upserted<>(decoder.decode(line, at, parts.objectLength));
                case "DELETED" -> new WatchEvent.Deleted<>(decoder.decode(line, at, parts.objectLength));
                case "BOOKMARK" -> bookmark(MAPPER.readTree(line, at, parts.objectLength));
                case "ERROR" -> error(line, at, parts.objectLength);
                default -> unreadable(length, "is of a type that we do not know");
            };
        } catch (ApiServerException e) {
            return new WatchEvent.Ended<>(e);
        } catch (IOException notJson) {
            return unreadable(length, "is broken");
        } catch (RuntimeException | StackOverflowError undecodable) {
            // it may quote what it read
            return unreadable(length, "could not be decoded");
        }
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
                : new WatchEvent.Bookmark<>(version);
    }

    private WatchEvent<T> error(byte[] line, int at, int length) throws IOException {
        JsonNode status = MAPPER.readTree(line, at, length);
        // an error without a code is as good as a broken connection
        int code = status.path("code").asInt(500);
        ErrorAnswer answer = new ErrorAnswer(code, null, Arrays.copyOfRange(line, at, at + length));
        return new WatchEvent.Ended<>(answer.toException(what, Instant.EPOCH));
    }

    private WatchEvent<T> unreadable(int length, String why) {
        return new WatchEvent.Ended<>(ApiServerException.withoutAnswer(
                FailureReason.UNREADABLE, what, "an event (" + length + " bytes) " + why, null));
    }
}
