package dev.podcache.apiserver.stream;

import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The connections of watches, and of the reads before them, to one API server: as few HTTP/2 connections as the
 * server's limit of streams allows, and one to spare when those are nearly full; or one HTTP/1.1 connection for
 * each watch where the server or a proxy speaks nothing else. Each HTTP/2 connection is pinged every 10 s and
 * given up, with a cause to its watches, if it does not answer within 10 s. One that carries nothing is closed
 * after some seconds. Threads come with the first request and go with {@link #close()}; there are as many for one
 * watch as for thousands. Thread-safe.
 */
public final class WatchConnections implements AutoCloseable {

    private static final int LOOPS = 2;

    private final Endpoint endpoint;
    private final Set<Exchange> exchanges = ConcurrentHashMap.newKeySet();
    private @Nullable EventLoops loops; // guarded by this
    private @Nullable ConnectionPool pool; // guarded by this
    private boolean closed; // guarded by this

    /**
     * Connections to one server; none is made yet.
     *
     * @param server its URL, with a path if there is one, without a slash at the end
     * @param config where TLS, proxies and credentials come from
     * @param requestConfig whom to impersonate, if anybody
     */
    public WatchConnections(String server, Config config, RequestConfig requestConfig, Timekeeper timekeeper) {
        this.endpoint = new Endpoint(server, config, requestConfig, timekeeper);
    }

    Endpoint endpoint() {
        return endpoint;
    }

    /** For the reads and watches of one selection of objects. */
    public Lane lane() {
        return new Lane(this, endpoint);
    }

    /** Has {@code exchange} sent. Returns at once. */
    void send(Exchange exchange, @Nullable Seat kept) {
        exchanges.add(exchange);
        exchange.whenOver(() -> forget(exchange));
        // reading certificates and refreshing a token may block
        endpoint.timekeeper().blocking().execute(() -> {
            if (exchange.prepare()) {
                ConnectionPool open = pool();
                if (open == null) {
                    exchange.abort();
                } else {
                    open.submit(exchange, kept);
                }
            }
        });
    }

    /** Ends all watches, with a cause, and all threads; waits for them at most 10 s. Idempotent. */
    @Override
    public void close() {
        EventLoops running;
        ConnectionPool open;
        synchronized (this) {
            closed = true;
            running = loops;
            loops = null;
            open = pool;
        }
        exchanges.forEach(Exchange::abort);
        if (open != null) {
            open.close();
        }
        if (running != null) {
            running.close();
        }
    }

    private void forget(Exchange exchange) {
        exchanges.remove(exchange);
        ConnectionPool open;
        synchronized (this) {
            open = pool;
        }
        if (open != null) {
            open.withdraw(exchange);
        }
    }

    /** Made by the first request; null once closed. */
    private synchronized @Nullable ConnectionPool pool() {
        if (closed) {
            return null;
        }
        if (pool == null) {
            loops = new EventLoops(LOOPS);
            pool = new ConnectionPool(endpoint, loops);
        }
        return pool;
    }
}
