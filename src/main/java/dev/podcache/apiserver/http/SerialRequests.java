package dev.podcache.apiserver.http;

import com.google.common.collect.Comparators;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Durations;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

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
     * starts only when it is sent. The lock guards all fields that are not final, and the queue.
     *
     * timeout = first --timeout--> twice as much, up to longest --an answer faster than first--> first
     * An answer that took longer than first changes nothing. Otherwise a server that always takes 4 s would miss every
     * other heartbeat.
     */

    private static final Duration LONGEST_FIRST = Duration.ofSeconds(3);

    private final ApiConnections connections;
    private final ConnectionPool pool;
    private final Consumer<SerialRequests> whenClosed;
    private final Duration first;
    private final Duration longest;
    private final Deque<QueuedRequest> waiting = new ArrayDeque<>(); // guarded by this
    private Duration timeout; // guarded by this; of the next request
    private boolean busy; // guarded by this; whether a request is in flight
    private boolean closed; // guarded by this

    /** One request, and the reader of its answer. */
    private record QueuedRequest(ServerRequest request, BodyReader<?> reader) {}

    /**
     * Creates a queue without opening a connection.
     *
     * @param pool of one connection; closed with this
     * @param whenClosed called when this has been closed, each time
     * @throws IllegalArgumentException if {@code leaseDuration} is less than 1 s
     */
    SerialRequests(
            ApiConnections connections,
            ConnectionPool pool,
            Duration leaseDuration,
            Consumer<SerialRequests> whenClosed) {
        Durations.atLeast(Duration.ofSeconds(1), "the lease duration", leaseDuration);
        this.connections = connections;
        this.pool = pool;
        this.first = Comparators.min(leaseDuration.dividedBy(12), LONGEST_FIRST);
        this.longest = leaseDuration.dividedBy(4);
        this.timeout = first;
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
        whenClosed.accept(this);
    }

    private void sendNext() {
        boolean more;
        do {
            QueuedRequest next;
            Duration within;
            synchronized (this) {
                next = busy && !closed ? null : waiting.poll();
                busy |= next != null;
                within = timeout;
                // after close(), send all of them, so that the pool fails them
                more = closed && next != null;
            }
            if (next != null) {
                send(next, within);
            }
        } while (more);
    }

    private void send(QueuedRequest next, Duration within) {
        long sentAt = connections.timekeeper().nanoTime();
        Exchange exchange = new Exchange(next.request, within, next.reader, pool);
        next.reader.whenEnded(failure -> {
            boolean answered = failure == null || failure.httpCode() > 0;
            if (!answered) {
                // the next request opens a new connection, for which certificates and addresses are read again
                pool.retireAll();
            }
            Duration took = Duration.ofNanos(connections.timekeeper().nanoTime() - sentAt);
            synchronized (this) {
                if (answered && took.compareTo(first) < 0) {
                    timeout = first;
                } else if (failure != null && failure.reason() == FailureReason.TIMEOUT && !answered) {
                    timeout = Comparators.min(timeout.multipliedBy(2), longest);
                }
                busy = false;
            }
            sendNext();
        });
        pool.send(exchange);
    }
}
