package dev.podcache.apiserver.stream;

import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The one HTTP/1.1 connection that a node's heartbeats go over, its status and its lease alike: apart from all other
 * traffic, so that neither a limit of requests nor a large answer holds up a sign of life. Requests go one after the
 * other, each a single attempt. Thread-safe.
 *
 * <p>Upstream gives a heartbeat 10 s, and closes its connections only at the second failure in a row. Over a connection
 * that has frozen, as behind a load balancer that lost its state, a renewal is then 20 s late: with the 10 s between
 * renewals, 30 of the 40 s that a lease lasts are gone although the server could be reached all along. We deviate: a
 * heartbeat has 3 s, or a twelfth of the lease's duration, from when its turn comes, dialling included. With the first
 * one that gets no answer the connection is closed, and the next is sent over a new one. A frozen connection thus costs
 * one request, and one renewal a few seconds. For a server that is only slow, the time doubles with each timeout in a
 * row up to a quarter of the lease's duration, until an answer is quick again.
 *
 * <p>The threads, an event loop and its watchdog, come with the first request and go with {@link #close()}.
 */
public final class HeartbeatConnection implements AutoCloseable {

    /*
     * At most one request is under way; the others wait their turn, here rather than in Vert.x's pool, because only
     * when its turn comes does its time begin. A wire is never repaired: after a timeout or a failure it is closed, and
     * the next turn makes another, with certificates and an address read anew. A connection that is just being made
     * cannot be called off; it goes with its client, or when its own time is over.
     *
     * What may block is done on threads that no watch uses: the server's name may be looked up in vain for hundreds of
     * watches while the wire in use needs no lookup.
     *
     * The lock covers who waits and which wire is in use; nothing but bookkeeping is done under it, except that the
     * first request starts the event loop.
     */

    private final Endpoint endpoint;
    private final HeartbeatTimeout timeout;
    private final Duration dialling;
    private final Deque<Heartbeat<?>> waiting = new ArrayDeque<>(); // guarded by this
    private @Nullable Heartbeat<?> current; // guarded by this
    private @Nullable HeartbeatWire wire; // guarded by this
    private boolean redial; // guarded by this; the wire is to be closed when the current request is over
    private @Nullable EventLoops loops; // guarded by this
    private boolean closed; // guarded by this

    /**
     * A connection to the server of {@code connections}, made with the same TLS material, proxies and credentials but
     * apart from them. It is not made yet.
     *
     * @param leaseDuration how long the node is believed alive without a heartbeat, at least 1 s
     */
    public HeartbeatConnection(WatchConnections connections, Duration leaseDuration) {
        this.endpoint = connections.endpoint();
        this.timeout = new HeartbeatTimeout(leaseDuration);
        this.dialling = leaseDuration.dividedBy(4);
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
        Heartbeat<R> heartbeat = new Heartbeat<>(request, decode, endpoint);
        boolean refused;
        synchronized (this) {
            refused = closed;
            if (!refused) {
                waiting.add(heartbeat);
            }
        }
        if (refused) {
            heartbeat.abort();
        } else {
            next();
        }
        return heartbeat.result();
    }

    /**
     * Has the next request sent over a new connection: for who gets answers, but only bad ones, as from one sick API
     * server behind a load balancer. A request that is under way is not disturbed. Returns at once.
     */
    public void reconnect() {
        HeartbeatWire old = null;
        synchronized (this) {
            if (current == null) {
                old = wire;
                wire = null;
            } else {
                redial = true;
            }
        }
        shut(old);
    }

    /** Fails every request, closes the connection and ends the threads; waits for them at most 10 s. Idempotent. */
    @Override
    public void close() {
        List<Heartbeat<?>> all;
        EventLoops running;
        HeartbeatWire old;
        synchronized (this) {
            closed = true;
            all = new ArrayList<>(waiting);
            waiting.clear();
            if (current != null) {
                all.add(current);
            }
            old = wire;
            wire = null;
            running = loops;
            loops = null;
        }
        all.forEach(Heartbeat::abort);
        shut(old);
        if (running != null) {
            running.close();
        }
    }

    /** Gives the next its turn, unless somebody has it. */
    private void next() {
        Heartbeat<?> turn;
        synchronized (this) {
            if (current != null || waiting.isEmpty()) {
                return;
            }
            turn = waiting.remove();
            current = turn;
        }
        long began = endpoint.timekeeper().nanoTime();
        turn.begin(timeout.now(), fate -> ended(fate, began));
        // credentials and certificates are read, and a name is looked up
        endpoint.timekeeper().urgent().execute(() -> prepare(turn));
    }

    private void prepare(Heartbeat<?> turn) {
        if (turn.isOver()) {
            return;
        }
        try {
            RequestOptions options = turn.options();
            HeartbeatWire taken = wire();
            if (taken == null) {
                turn.abort();
                return;
            }
            if (taken.address() != null) {
                options.setServer(taken.address());
            }
            EventLoops.post(taken.loop(), () -> turn.send(taken, options));
        } catch (UnknownHostException | RuntimeException e) {
            turn.fail(e);
        }
    }

    /** The one in use, or a new one; null once closed. May block. */
    private @Nullable HeartbeatWire wire() throws UnknownHostException {
        synchronized (this) {
            if (wire != null) {
                return wire;
            }
        }
        Endpoint.Dial dial = endpoint.dial(ConnectionSettings::kept);
        synchronized (this) {
            if (closed) {
                return null;
            }
            if (wire == null) {
                wire = wireLocked(dial);
            }
            return wire;
        }
    }

    private HeartbeatWire wireLocked(Endpoint.Dial dial) {
        EventLoops running = loops;
        if (running == null) {
            running = new EventLoops(1);
            loops = running;
        }
        HttpClientOptions options = dial.options();
        options.setConnectTimeout((int) Math.min(options.getConnectTimeout(), dialling.toMillis()))
                .setSslHandshakeTimeout(dialling.toSeconds() + 1);
        return new HeartbeatWire(
                running.client(options, new PoolOptions().setHttp1MaxSize(1)), dial.address(), running.next());
    }

    private void ended(Heartbeat.Fate fate, long began) {
        switch (fate) {
            case ANSWERED, UNKNOWN ->
                timeout.answered(Duration.ofNanos(endpoint.timekeeper().nanoTime() - began));
            case LATE -> timeout.missed();
            case BROKEN -> {}
        }
        HeartbeatWire old = null;
        synchronized (this) {
            // a new connection shows a new certificate, too
            if (fate != Heartbeat.Fate.ANSWERED || redial) {
                old = wire;
                wire = null;
                redial = false;
            }
            current = null;
        }
        shut(old);
        next();
    }

    private static void shut(@Nullable HeartbeatWire old) {
        if (old != null) {
            old.http().close();
        }
    }
}
