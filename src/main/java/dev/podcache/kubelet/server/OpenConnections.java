package dev.podcache.kubelet.server;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Limits the connections of clients: their number, and how long one may be open without a request. Thread-safe.
 *
 * @param <C> identifies a connection
 */
final class OpenConnections<C> {

    static final Duration IDLE = Duration.ofSeconds(90);

    private final int most;
    private final Timekeeper timekeeper;
    private final Map<C, ConnectionUse> uses = new ConcurrentHashMap<>();

    private static final class ConnectionUse {
        final AtomicInteger requests = new AtomicInteger();
        final Runnable close;
        volatile Timekeeper.Scheduled timer = () -> {};

        ConnectionUse(Runnable close) {
            this.close = close;
        }
    }

    OpenConnections(int most, Timekeeper timekeeper) {
        this.most = most;
        this.timekeeper = timekeeper;
    }

    /** Adds a connection, or closes it if there are too many. */
    void opened(C connection, Runnable close) {
        ConnectionUse use = new ConnectionUse(close);
        uses.put(connection, use);
        if (uses.size() > most) {
            close.run();
        } else {
            awaitRequest(use);
        }
    }

    void requestBegan(C connection) {
        ConnectionUse use = uses.get(connection);
        if (use != null) {
            use.requests.incrementAndGet();
            use.timer.cancel();
        }
    }

    void requestEnded(C connection) {
        ConnectionUse use = uses.get(connection);
        if (use != null && use.requests.decrementAndGet() == 0) {
            awaitRequest(use);
        }
    }

    void closed(C connection) {
        ConnectionUse use = uses.remove(connection);
        if (use != null) {
            use.timer.cancel();
        }
    }

    int size() {
        return uses.size();
    }

    private void awaitRequest(ConnectionUse use) {
        use.timer = timekeeper.schedule(IDLE, () -> {
            // a request may have begun while the timer fired
            if (use.requests.get() == 0) {
                use.close.run();
            }
        });
    }
}
