package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.object.FailureReason;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Converts the response of an {@link Exchange} to the events of one watch. The consumer is called in order, by one
 * thread at a time: the event loop of the connection, or any thread for the end of a watch that never opened. No event
 * follows a close, because the exchange is checked before each.
 */
final class WatchReader<T> implements ResponseReader {

    private static final Logger log = LoggerFactory.getLogger(WatchReader.class);

    private final ServerRequest request;
    private final int longestLine;
    private final Consumer<WatchEvent<T>> events;
    private final ObjectDecoder<T> decoder;
    private @Nullable LineDecoder unfinished; // not null inside a line: there are thousands of idle watches

    /**
     * Creates a reader of one watch.
     *
     * @param longestLine the maximum size of one event, in bytes
     */
    WatchReader(ServerRequest request, int longestLine, ObjectDecoder<T> decoder, Consumer<WatchEvent<T>> events) {
        this.request = request;
        this.longestLine = longestLine;
        this.events = events;
        this.decoder = decoder;
    }

    @Override
    public boolean isEndless() {
        return true;
    }

    @Override
    public void accepted() {
        consume(new WatchEvent.Opened<>());
    }

    @Override
    public void chunk(Exchange exchange, byte[] bytes) {
        LineDecoder lines = unfinished == null ? new LineDecoder(longestLine) : unfinished;
        unfinished = lines;
        boolean fits = lines.accept(bytes, (line, offset, length) -> {
            if (exchange.isOver()) {
                return;
            }
            WatchEvent<T> event = new WatchEvents<>(request.what(), decoder).decode(line, offset, length);
            if (event instanceof WatchEvent.Ended<T> ended) {
                exchange.end(ended.failure());
            } else {
                consume(event);
            }
        });
        if (!lines.insideLine()) {
            unfinished = null;
        }
        if (!fits) {
            exchange.end(failure(FailureReason.UNREADABLE, "an event is longer than " + longestLine + " bytes"));
        }
    }

    @Override
    public @Nullable ApiServerException complete() {
        return unfinished != null ? failure(FailureReason.UNAVAILABLE, "the answer ended inside an event") : null;
    }

    @Override
    public void ended(@Nullable ApiServerException failure) {
        consume(new WatchEvent.Ended<>(failure));
    }

    private void consume(WatchEvent<T> event) {
        try {
            events.accept(event);
        } catch (RuntimeException | Error e) {
            // catches everything, because the connection carries other watches too
            log.error("{}: the consumer of an event failed; this is a bug in it; going on", request.what(), e);
        }
    }

    private ApiServerException failure(FailureReason reason, String why) {
        return ApiServerException.withoutAnswer(reason, request.what(), why, null);
    }
}
