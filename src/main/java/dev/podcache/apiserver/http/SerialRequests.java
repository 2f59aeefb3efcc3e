package dev.podcache.apiserver.http;

import dev.podcache.object.FailureReason;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The requests by which a node shows that it is alive, its status and its lease alike: one after the other, each a
 * single attempt, over one HTTP/1.1 connection apart from all other traffic, so that neither a limit of requests nor a
 * large answer holds up a sign of life. Thread-safe.
 *
 * <p>Upstream gives a heartbeat 10 s, and closes its connections only at the second failure in a row. Over a connection
 * that has frozen, as behind a load balancer that lost its state, a renewal is then 20 s late: with the 10 s between
 * renewals, 30 of the 40 s that a lease lasts are gone although the server could be reached all along. We deviate: a
 * heartbeat has 3 s, or a twelfth of the lease's duration, from when its turn comes, dialling included. With the first
 * one that gets no answer the connection is closed, and the next is sent over a new one. A frozen connection thus costs
 * one request, and one renewal a few seconds. For a server that is only slow, the time doubles with each timeout in a
 * row up to a quarter of the lease's duration, until an answer is quick again.
 */
public final class SerialRequests implements AutoCloseable {

    /*
     * At most one request is under way; the others wait here rather than in the pool, because only when its turn comes
     * does its time begin. The lock covers which requests wait, and whether one is under way.
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
     * One attempt. Returns at once and never throws.
     *
     * @param decode reads a 2xx body, on a worker thread
     * @return what {@code decode} returned or threw; or exceptionally an {@link
     *     dev.podcache.apiserver.ApiServerException}, with {@link dev.podcache.object.FailureReason#TIMEOUT} at the
     *     latest a quarter of the lease's duration after its turn came
     */
    public <R> CompletableFuture<R> send(ServerRequest request, Function<byte[], R> decode) {
        BodyReader<R> reader = connections.reader(request, ApiConnections.LONGEST_OBJECT, decode);
        synchronized (this) {
            waiting.add(new QueuedRequest(request, reader));
        }
        next();
        return reader.result();
    }

    /**
     * Has the next request sent over a new connection, such as when answers come, but only bad ones, as from one sick
     * API server behind a load balancer. A request that is under way is not disturbed. Returns at once.
     */
    public void reconnect() {
        pool.retireAll();
    }

    /** Fails every request, closes the connection and ends the threads; waits for them at most 10 s. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        pool.close();
        next();
        whenClosed.run();
    }

    private void next() {
        @Nullable QueuedRequest turn;
        do {
            synchronized (this) {
                turn = busy && !closed ? null : waiting.poll();
                busy |= turn != null;
            }
            if (turn != null) {
                begin(turn);
            }
            // once closed, all others are to be failed too, by the pool
        } while (turn != null && isClosed());
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private void begin(QueuedRequest turn) {
        long began = connections.timekeeper().nanoTime();
        Exchange exchange = connections.exchange(turn.request, timeout.now(), turn.reader);
        turn.reader.whenEnded(failure -> {
            if (failure == null || failure.httpCode() > 0) {
                timeout.answered(Duration.ofNanos(connections.timekeeper().nanoTime() - began));
            } else {
                // not repaired: the next request opens another, with certificates and addresses read anew
                pool.retireAll();
                if (failure.reason() == FailureReason.TIMEOUT) {
                    timeout.missed();
                }
            }
            synchronized (this) {
                busy = false;
            }
            next();
        });
        pool.send(exchange);
    }
}
