package dev.podcache.apiserver.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ErrorAnswer;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.ServerJson;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts the response of an {@link Exchange} to the events of one watch. The consumer is called in order, by one
 * thread at a time: the event loop of the connection, or any thread for the end of a watch that was never sent. The exchange
 * is checked before each event is decoded. So at most one event follows a close: the one that was being decoded.
 *
 * <p>A line is such as {@code {"type":"ADDED","object":{...}}} ({@code WatchEvent} of {@code
 * k8s.io/apimachinery/pkg/apis/meta/v1}). One scan finds where the object starts and ends; the {@link ObjectDecoder}
 * decodes this part. A line that cannot be decoded, or in which something follows the event, ends the watch with a failure,
 * because otherwise a change would be missed. A failure never quotes the line.
 */
final class WatchReader<T> implements ResponseReader {

    private static final Logger log = LoggerFactory.getLogger(WatchReader.class);
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String LIST_END = "k8s.io/initial-events-end";

    private final ServerRequest request;
    private final int longestLine;
    private final Consumer<WatchEvent<T>> events;
    private final ObjectDecoder<T> decoder;
    private final ReceiveBudget budget;
    private final Runnable whenSent;
    private @Nullable UnfinishedLine unfinished; // not null inside a line: there are thousands of idle watches

    /** A line that has begun, and what it counts. */
    private record UnfinishedLine(LineDecoder lines, ReceiveBudget.Share share) {}

    /** The type of an event, and the position of its object in the line. */
    private record EventParts(@Nullable String type, int objectAt, int objectLength) {}

    /**
     * Creates a reader of one watch.
     *
     * @param longestLine the maximum size of one event, in bytes
     * @param budget counts what is kept of an event until it is complete
     * @param whenSent runs when the request was {@linkplain #sent}
     */
    WatchReader(
            ServerRequest request,
            int longestLine,
            ReceiveBudget budget,
            ObjectDecoder<T> decoder,
            Consumer<WatchEvent<T>> events,
            Runnable whenSent) {
        this.request = request;
        this.longestLine = longestLine;
        this.budget = budget;
        this.events = events;
        this.decoder = decoder;
        this.whenSent = whenSent;
    }

    @Override
    public boolean isEndless() {
        return true;
    }

    @Override
    public void sent() {
        whenSent.run();
    }

    @Override
    public void accepted() {
        events.accept(new WatchEvent.Opened<>());
    }

    @Override
    public boolean chunk(Exchange exchange, byte[] bytes) {
        UnfinishedLine begun = unfinished;
        LineDecoder lines = begun == null ? new LineDecoder(longestLine) : begun.lines;
        boolean fits = lines.accept(bytes, (line, offset, length) -> {
            if (exchange.isOver()) {
                return;
            }
            WatchEvent<T> event = decode(line, offset, length);
            if (event instanceof WatchEvent.Ended<T> ended) {
                exchange.end(ended.failure());
            } else {
                consume(exchange, event);
            }
        });
        if (!fits) {
            exchange.end(failure(FailureReason.UNREADABLE, "an event is longer than " + longestLine + " bytes"));
        }
        if (exchange.isOver() || !lines.insideLine()) {
            dropped();
            return true;
        }
        UnfinishedLine now = begun == null ? new UnfinishedLine(lines, budget.share(exchange)) : begun;
        unfinished = now;
        ReceiveBudget.Room room = now.share.hold(lines.kept());
        if (room == ReceiveBudget.Room.NONE) {
            exchange.end(exchange.noMemory());
        }
        return room != ReceiveBudget.Room.LATER;
    }

    @Override
    public void dropped() {
        UnfinishedLine last = unfinished;
        if (last != null) {
            unfinished = null;
            last.share.end();
        }
    }

    @Override
    public @Nullable ApiServerException complete(Exchange exchange) {
        return unfinished != null ? failure(FailureReason.UNAVAILABLE, "the answer ended inside an event") : null;
    }

    @Override
    public void ended(@Nullable ApiServerException failure) {
        dropped();
        try {
            events.accept(new WatchEvent.Ended<>(failure));
        } catch (RuntimeException | Error e) {
            // catches everything, because the connection carries other watches too
            log.error("{}: the consumer of the watch's end failed; this is a bug in it", request.what(), e);
        }
    }

    /** Passes an event on. If that fails, ends the watch: the consumer lacks the event, and must not seem up to date. */
    private void consume(Exchange exchange, WatchEvent<T> event) {
        try {
            events.accept(event);
        } catch (RuntimeException | Error e) {
            // catches everything, because the connection carries other watches too
            log.error("{}: the consumer of an event failed; this is a bug in it; ending the watch", request.what(), e);
            exchange.end(failure(FailureReason.UNREADABLE, "the consumer of an event failed"));
        }
    }

    private ApiServerException failure(FailureReason reason, String why) {
        return ApiServerException.withoutAnswer(reason, request.what(), why, null);
    }

    /** Decodes one line. Throws only if memory is missing. */
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
        try (JsonParser parser = ServerJson.FACTORY.createParser(line, offset, length)) {
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
            if (parser.nextToken() != null) {
                throw new IOException("something follows the event");
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
        return new WatchEvent.Ended<>(answer.toException(request.what(), Instant.EPOCH));
    }

    private WatchEvent<T> unreadable(int length, String why) {
        return new WatchEvent.Ended<>(ApiServerException.withoutAnswer(
                FailureReason.UNREADABLE, request.what(), "an event (" + length + " bytes) " + why, null));
    }
}
