package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The reads and watches of one selection of objects. A watch goes over the connection that the read before it went
 * over, so it asks the same API server, and finds the stream that the read used free. Thread-safe.
 */
public final class Lane {

    private final WatchConnections connections;
    private final Endpoint endpoint;
    private final AtomicReference<@Nullable Seat> kept = new AtomicReference<>();

    Lane(WatchConnections connections, Endpoint endpoint) {
        this.connections = connections;
        this.endpoint = endpoint;
    }

    /**
     * One GET of a list over the connections of watches. Returns at once and never throws.
     *
     * @param what for messages, such as {@code LIST secrets in shop}
     * @param path path and query below the server's URL
     * @param timeout positive
     * @param decode reads a body that came with status 200, on a worker thread
     * @return what {@code decode} returned or threw; or nothing if the server speaks only HTTP/1.1, where this would
     *     cost a connection and was not done; or exceptionally an {@link ApiServerException}, of a body beyond
     *     {@link AnswerBody#LONGEST_LIST} too
     */
    public <R> CompletableFuture<Optional<R>> read(
            String what, String path, Duration timeout, Function<byte[], R> decode) {
        AnswerBody body = new AnswerBody(AnswerBody.LONGEST_LIST);
        BodyRead<R> read = new BodyRead<>(body, decode, endpoint.timekeeper().workers(), kept::set);
        Exchange.Ask ask = new Exchange.Ask(what, path, timeout, true);
        connections.send(new Exchange(ask, read, endpoint), kept.getAndSet(null));
        return read.result();
    }

    /**
     * Opens a watch as {@link dev.podcache.apiserver.ListerWatcher#watch} promises. Returns at once and never throws.
     *
     * @param events called on an event loop, or on a worker or timer if the watch never opened
     */
    public <T> WatchHandle open(WatchRequest<T> request, Consumer<WatchEvent<T>> events) {
        OpenWatch<T> watch = new OpenWatch<>(request, endpoint, events);
        connections.send(watch.exchange(), kept.getAndSet(null));
        return watch;
    }
}
