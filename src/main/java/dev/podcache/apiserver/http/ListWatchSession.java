package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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
    private volatile @Nullable Connection last; // only a preference, so a lost update is harmless

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
        Connection connection = last;
        if (connection == null) {
            return false;
        }
        synchronized (pool) {
            return connection.stage == ConnectionStage.OPEN;
        }
    }

    /** Sends one request like {@link ApiConnections#send}, but over the connections of watches. */
    public <R> CompletableFuture<R> list(
            ServerRequest request, Duration timeout, int longest, Function<byte[], R> decode) {
        BodyReader<R> reader = connections.reader(request, longest, decode);
        Exchange exchange = new Exchange(request, timeout, reader, pool);
        reader.whenEnded(failure -> last = failure == null ? exchange.carrier() : null);
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
        Exchange exchange =
                new Exchange(request, OPEN_TIMEOUT, new WatchReader<>(request, longestEvent, decoder, events), pool);
        exchange.prefer(last);
        last = null;
        pool.send(exchange);
        return exchange;
    }
}
