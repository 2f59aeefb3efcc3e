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

    private final String request;
    private final int longestLine;
    private final Consumer<WatchEvent<T>> events;
    private final WatchEvents<T> decoder;
    private final LineDecoder lines;

    /**
     * Creates a reader of one watch.
     *
     * @param request names the request in messages
     * @param longestLine the maximum size of one event, in bytes
     */
    WatchReader(String request, int longestLine, ObjectDecoder<T> decoder, Consumer<WatchEvent<T>> events) {
        this.request = request;
        this.longestLine = longestLine;
        this.events = events;
        this.decoder = new WatchEvents<>(request, decoder);
        this.lines = new LineDecoder(longestLine);
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
        boolean fits = lines.accept(bytes, (line, offset, length) -> {
            if (exchange.isOver()) {
                return;
            }
            WatchEvent<T> event = decoder.decode(line, offset, length);
            if (event instanceof WatchEvent.Ended<T> ended) {
                exchange.end(ended.failure());
            } else {
                consume(event);
            }
        });
        if (!fits) {
            exchange.end(failure(FailureReason.UNREADABLE, "an event is longer than " + longestLine + " bytes"));
        }
    }

    @Override
    public @Nullable ApiServerException complete() {
        return lines.insideLine() ? failure(FailureReason.UNAVAILABLE, "the answer ended inside an event") : null;
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
            log.error("{}: the consumer of an event failed; this is a bug in it; going on", request, e);
        }
    }

    private ApiServerException failure(FailureReason reason, String why) {
        return ApiServerException.withoutAnswer(reason, request, why, null);
    }
}
