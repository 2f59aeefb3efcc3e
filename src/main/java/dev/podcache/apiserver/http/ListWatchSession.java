package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The lists and watches of one selection of objects. A watch goes over the connection of the list before it, if that
 * has a stream free, so that it asks the same API server. Thread-safe.
 */
public final class ListWatchSession {

    private static final Duration OPENS_WITHIN = Duration.ofSeconds(20);

    private final ApiConnections connections;
    private final ConnectionPool pool;
    private final AtomicReference<@Nullable Connection> last = new AtomicReference<>();

    ListWatchSession(ApiConnections connections, ConnectionPool pool) {
        this.connections = connections;
        this.pool = pool;
    }

    /** The time by which timeouts are measured, in nanoseconds from an arbitrary origin. */
    public long nanoTime() {
        return connections.timekeeper().nanoTime();
    }

    /** Sends one request as {@link ApiConnections#send} does, over the connections of watches. */
    public <R> CompletableFuture<R> list(
            ServerRequest request, Duration timeout, int longest, Function<byte[], R> decode) {
        BodyReader<R> reader = connections.reader(request, longest, decode);
        Exchange exchange = connections.exchange(request, timeout, reader);
        reader.whenEnded(failure -> last.set(failure == null ? exchange.connection() : null));
        pool.send(exchange);
        return reader.result();
    }

    /**
     * Opens a watch as {@link dev.podcache.apiserver.ListerWatcher#watch} promises. Returns at once and never throws.
     *
     * @param longestEvent how many bytes one event may have
     * @param events called on an event loop, or for the end of a watch that never opened on any thread
     */
    public <T> WatchHandle watch(
            ServerRequest request, int longestEvent, ObjectDecoder<T> decoder, Consumer<WatchEvent<T>> events) {
        Exchange exchange = connections.exchange(
                request, OPENS_WITHIN, new WatchReader<>(request.what(), longestEvent, decoder, events));
        exchange.prefer(last.getAndSet(null));
        pool.send(exchange);
        return exchange::cancel;
    }
}
