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
 * Makes the events of one watch of what its {@link Exchange} brings. The consumer is called by one thread at a time and
 * in order: by the event loop of the connection, or for the end of a watch that never opened by whatever thread ends it.
 * Every delivery asks the exchange whether it is over, so none follows a close.
 */
final class WatchReader<T> implements ResponseReader {

    private static final Logger log = LoggerFactory.getLogger(WatchReader.class);

    private final String what;
    private final int longestLine;
    private final Consumer<WatchEvent<T>> events;
    private final WatchEvents<T> decoder;
    private final LineDecoder lines;

    /**
     * A watch that is not open yet.
     *
     * @param what the request, for messages
     * @param longestLine how many bytes one event may have
     */
    WatchReader(String what, int longestLine, ObjectDecoder<T> decoder, Consumer<WatchEvent<T>> events) {
        this.what = what;
        this.longestLine = longestLine;
        this.events = events;
        this.decoder = new WatchEvents<>(what, decoder);
        this.lines = new LineDecoder(longestLine);
    }

    @Override
    public boolean isEndless() {
        return true;
    }

    @Override
    public void begins() {
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
            // of whatever kind: it must not end the connection, which carries other watches
            log.error("{}: a consumer of events failed; this is a bug in it", what, e);
        }
    }

    private ApiServerException failure(FailureReason reason, String why) {
        return ApiServerException.withoutAnswer(reason, what, why, null);
    }
}
