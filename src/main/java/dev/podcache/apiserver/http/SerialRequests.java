package dev.podcache.apiserver.http;

import dev.podcache.object.FailureReason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Sends the heartbeats of a node (its status and its lease) one after another, each in a single attempt, over one
 * HTTP/1.1 connection that carries nothing else. So neither a request limit nor a large answer delays a heartbeat.
 * Thread-safe.
 *
 * <p>Upstream gives a heartbeat 10 s, and closes its connections only after the second consecutive failure. If a
 * connection freezes, for example because a load balancer lost its state, a renewal is then 20 s late. With the 10 s
 * between renewals, 30 of the 40 s of a lease are gone although the server could be reached all the time.
 *
 * <p>This class deviates. A heartbeat gets 3 s or a twelfth of the lease duration, whichever is less, from when it is
 * sent, including the time to connect. After the first heartbeat without an answer the connection is closed, and the
 * next heartbeat uses a new one. So a frozen connection costs one request, and delays one renewal by a few seconds. For
 * a slow server, the timeout doubles with each consecutive timeout, up to a quarter of the lease duration, until an
 * answer is fast again.
 */
public final class SerialRequests implements AutoCloseable {

    /*
     * At most one request is in flight. The others wait here and not in the pool, because the timeout of a request
     * starts only when it is sent. The lock guards the queue, and whether a request is in flight.
     */

    private final ApiConnections connections;
    private final ConnectionPool pool;
    private final Runnable whenClosed;
    private final HeartbeatTimeout timeout;
    private final Deque<QueuedRequest> waiting = new ArrayDeque<>(); // guarded by this
    private boolean busy; // guarded by this
    private boolean closed; // guarded by this

    /** One request, and the reader of its answer. */
    private record QueuedRequest(ServerRequest request, BodyReader<?> reader) {}

    SerialRequests(ApiConnections connections, ConnectionPool pool, Duration leaseDuration, Runnable whenClosed) {
        this.connections = connections;
        this.pool = pool;
        this.timeout = new HeartbeatTimeout(leaseDuration);
        this.whenClosed = whenClosed;
    }

    /**
     * Sends one request after all earlier ones have ended, in a single attempt. Returns at once and never throws.
     *
     * @param decode decodes a 2xx body, on a worker thread
     * @return what {@code decode} returned or threw, or exceptionally an {@link
     *     dev.podcache.apiserver.ApiServerException}, with {@link dev.podcache.object.FailureReason#TIMEOUT} at the
     *     latest a quarter of the lease duration after all earlier requests have ended
     */
    public <R> CompletableFuture<R> send(ServerRequest request, Function<byte[], R> decode) {
        BodyReader<R> reader = connections.reader(request, ApiConnections.LONGEST_OBJECT, decode);
        synchronized (this) {
            waiting.add(new QueuedRequest(request, reader));
        }
        sendNext();
        return reader.result();
    }

    /**
     * Makes the next request use a new connection. This helps if every answer is an error, for example from one faulty
     * API server behind a load balancer. Does not affect a request in flight. Returns at once.
     */
    public void reconnect() {
        pool.retireAll();
    }

    /** Fails all requests, closes the connection and stops the threads; waits for them at most 10 s. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        pool.close();
        sendNext();
        whenClosed.run();
    }

    private void sendNext() {
        @Nullable QueuedRequest next;
        do {
            synchronized (this) {
                next = busy && !closed ? null : waiting.poll();
                busy |= next != null;
            }
            if (next != null) {
                send(next);
            }
            // after close(), send all of them, so that the pool fails them
        } while (next != null && isClosed());
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private void send(QueuedRequest next) {
        long sentAt = connections.timekeeper().nanoTime();
        Exchange exchange = new Exchange(next.request, timeout.now(), next.reader, pool);
        next.reader.whenEnded(failure -> {
            if (failure == null || failure.httpCode() > 0) {
                timeout.answered(Duration.ofNanos(connections.timekeeper().nanoTime() - sentAt));
            } else {
                // the next request opens a new connection, for which certificates and addresses are read again
                pool.retireAll();
                if (failure.reason() == FailureReason.TIMEOUT) {
                    timeout.missed();
                }
            }
            synchronized (this) {
                busy = false;
            }
            sendNext();
        });
        pool.send(exchange);
    }
}
