package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One watch: makes events of what its {@link Exchange} brings. Everything but {@link #close} happens on the event loop
 * of the connection, except the end of a watch that never got one; so the consumer is called by one thread at a time
 * and in order, without a lock. Every delivery asks the exchange whether it is over, and so none follows a close.
 */
final class OpenWatch<T> implements WatchHandle, Exchange.Answer {

    private static final Logger log = LoggerFactory.getLogger(OpenWatch.class);
    private static final Duration OPENS_WITHIN = Duration.ofSeconds(20);

    private final Exchange exchange;
    private final Consumer<WatchEvent<T>> events;
    private final WatchEvents<T> decoder;
    private final LineDecoder lines = new LineDecoder(AnswerBody.LONGEST_OBJECT);

    OpenWatch(WatchRequest<T> request, Endpoint endpoint, Consumer<WatchEvent<T>> events) {
        this.exchange =
                new Exchange(new Exchange.Ask(request.what(), request.path(), OPENS_WITHIN, false), this, endpoint);
        this.events = events;
        this.decoder = new WatchEvents<>(request.what(), request.decoder());
    }

    Exchange exchange() {
        return exchange;
    }

    @Override
    public void close() {
        exchange.cancel();
    }

    @Override
    public void begins(Exchange same, HttpClientResponse response) {
        exchange.settled();
        response.handler(this::chunk);
        response.endHandler(
                complete -> exchange.end(lines.insideLine() ? broken("the answer ended inside an event") : null));
        deliver(new WatchEvent.Opened<>());
    }

    @Override
    public void ended(@Nullable ApiServerException failure) {
        consume(new WatchEvent.Ended<>(failure));
    }

    private void chunk(Buffer chunk) {
        boolean fits = lines.accept(chunk.getBytes(), (bytes, offset, length) -> {
            if (exchange.isOver()) {
                return;
            }
            WatchEvent<T> event = decoder.decode(bytes, offset, length);
            if (event instanceof WatchEvent.Ended<T> ended) {
                exchange.end(ended.failure());
            } else {
                deliver(event);
            }
        });
        if (!fits) {
            exchange.end(ApiServerException.withoutAnswer(
                    FailureReason.UNREADABLE,
                    exchange.toString(),
                    "an event is longer than " + AnswerBody.LONGEST_OBJECT + " bytes",
                    null));
        }
    }

    private ApiServerException broken(String why) {
        return ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, exchange.toString(), why, null);
    }

    private void deliver(WatchEvent<T> event) {
        if (!exchange.isOver()) {
            consume(event);
        }
    }

    private void consume(WatchEvent<T> event) {
        try {
            events.accept(event);
        } catch (RuntimeException e) {
            log.error("{}: a consumer of events failed; this is a bug in it", exchange, e);
        }
    }
}
