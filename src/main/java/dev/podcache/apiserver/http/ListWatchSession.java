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
 * Sends the lists and watches of one selection of objects. A watch uses the connection of the list before it if that
 * has a free stream, so that the same API server answers both. Thread-safe.
 */
public final class ListWatchSession {

    private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(20);

    private final ApiConnections connections;
    private final ConnectionPool pool;
    private final AtomicReference<@Nullable Connection> last = new AtomicReference<>();

    ListWatchSession(ApiConnections connections, ConnectionPool pool) {
        this.connections = connections;
        this.pool = pool;
    }

    /** Returns the time that timeouts are measured with, in nanoseconds from an arbitrary origin. */
    public long nanoTime() {
        return connections.timekeeper().nanoTime();
    }

    /** Returns whether the last list succeeded and its connection still accepts requests. */
    public boolean isConnected() {
        Connection connection = last.get();
        if (connection == null) {
            return false;
        }
        synchronized (pool) {
            return connection.stage == Connection.Stage.OPEN;
        }
    }

    /** Sends one request like {@link ApiConnections#send}, but over the connections of watches. */
    public <R> CompletableFuture<R> list(
            ServerRequest request, Duration timeout, int longest, Function<byte[], R> decode) {
        BodyReader<R> reader = connections.reader(request, longest, decode);
        Exchange exchange = connections.exchange(request, timeout, reader);
        reader.whenEnded(failure -> last.set(failure == null ? exchange.connection() : null));
        pool.send(exchange);
        return reader.result();
    }

    /**
     * Opens a watch with the contract of {@link dev.podcache.apiserver.ListerWatcher#watch}. Returns at once and never
     * throws.
     *
     * @param longestEvent the maximum size of one event, in bytes
     * @param events called on an event loop; on any thread for the end of a watch that never opened
     */
    public <T> WatchHandle watch(
            ServerRequest request, int longestEvent, ObjectDecoder<T> decoder, Consumer<WatchEvent<T>> events) {
        Exchange exchange = connections.exchange(
                request, OPEN_TIMEOUT, new WatchReader<>(request.what(), longestEvent, decoder, events));
        exchange.prefer(last.getAndSet(null));
        pool.send(exchange);
        return new ExchangeHandle(exchange, connections);
    }

    private record ExchangeHandle(Exchange exchange, ApiConnections connections) implements WatchHandle {

        @Override
        public void close() {
            exchange.cancel();
        }

        @Override
        public String connection() {
            Connection carrier = exchange.isOver() ? null : exchange.connection();
            return carrier == null ? "" : connections.name(carrier);
        }
    }
}
