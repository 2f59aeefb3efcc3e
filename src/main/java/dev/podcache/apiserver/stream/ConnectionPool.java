package dev.podcache.apiserver.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds each exchange a stream on as few connections as the server's limit allows, and makes the connections. Thread-safe.
 */
final class ConnectionPool {

    /*
     * The lock covers who waits, which connections there are, and the books of each. Under it nothing is done but bookkeeping:
     * every method decides under the lock what is to be done and does it afterwards. It is taken on event loops, workers and the
     * timer alike, and inside it no other lock is.
     *
     * While nobody knows the server's limit, one connection is made and all others wait for what it says (SETTINGS). From then on
     * as many are made at once as the waiting need.
     *
     * An exchange is seated on the fullest connection that has room: so connections empty out as watches end, and one without a
     * taken seat is given back.
     */

    private static final Duration IDLE = Duration.ofSeconds(5);

    private final Endpoint endpoint;
    private final EventLoops loops;
    private final SingleConnections singles;
    private final List<PooledConnection> connections =
            new ArrayList<>(); // guarded by this; all but those that are gone
    private final Set<Exchange> waiting = new LinkedHashSet<>(); // guarded by this
    private int expected; // guarded by this; the limit that the server last told, 0 before that
    private boolean closed; // guarded by this

    ConnectionPool(Endpoint endpoint, EventLoops loops) {
        this.endpoint = endpoint;
        this.loops = loops;
        this.singles = new SingleConnections(endpoint, loops);
    }

    /**
     * Has {@code exchange} sent. Returns at once.
     *
     * @param kept a seat that was kept for it, if one was
     */
    void submit(Exchange exchange, @Nullable Seat kept) {
        if (singles.inUse()) {
            singles.carry(exchange);
            return;
        }
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            if (closed) {
                steps.add(exchange::abort);
            } else if (kept != null && reclaimLocked(kept)) {
                steps.add(() -> kept.connection().carry(exchange, kept));
            } else if (!exchange.isOver()) {
                waiting.add(exchange);
                planLocked(steps);
            }
        }
        steps.forEach(Runnable::run);
    }

    /** Forgets {@code exchange} if it waits. To be called when it is over. */
    synchronized void withdraw(Exchange exchange) {
        waiting.remove(exchange);
    }

    /** {@code connection} can be used. */
    void opened(PooledConnection connection, int limit) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            connection.phase = PooledConnection.Phase.OPEN;
            expected = limit;
            connection.seats.limitTo(limit);
            planLocked(steps);
            giveBackLocked(connection, steps);
        }
        steps.forEach(Runnable::run);
    }

    /** The server changed the limit. */
    void limited(PooledConnection connection, int limit) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            expected = limit;
            connection.seats.limitTo(limit);
            planLocked(steps);
        }
        steps.forEach(Runnable::run);
    }

    /** {@code connection} could not be made. Nobody waits longer than there is hope. */
    void failed(PooledConnection connection, Exchange driver, Throwable cause) {
        List<Exchange> hopeless = new ArrayList<>();
        hopeless.add(driver);
        synchronized (this) {
            forgetLocked(connection);
            if (comingLocked() == 0) {
                hopeless.addAll(waiting);
                waiting.clear();
            }
        }
        hopeless.forEach(exchange -> exchange.fail(cause));
    }

    /** The server understands only HTTP/1.1. */
    void notMultiplexed(PooledConnection connection, Exchange driver) {
        singles.use();
        List<Exchange> all = new ArrayList<>();
        all.add(driver);
        synchronized (this) {
            forgetLocked(connection);
            all.addAll(waiting);
            waiting.clear();
        }
        all.forEach(singles::carry);
    }

    /** {@code connection} takes no new streams. */
    void retired(PooledConnection connection) {
        boolean unused;
        synchronized (this) {
            connection.phase = PooledConnection.Phase.RETIRED;
            unused = connection.seats.unused();
        }
        if (unused) {
            connection.shut();
        }
    }

    /** {@code connection} is no more. */
    void gone(PooledConnection connection) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            forgetLocked(connection);
            planLocked(steps);
        }
        steps.forEach(Runnable::run);
    }

    /** {@code seat} is free. */
    void left(Seat seat) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            seat.connection().seats.giveBack();
            planLocked(steps);
            giveBackLocked(seat.connection(), steps);
        }
        steps.forEach(Runnable::run);
    }

    /** {@code seat} is free for who {@linkplain #submit comes} with it. */
    synchronized void keep(Seat seat) {
        seat.connection().seats.keep(seat);
    }

    /** Some seconds have passed. */
    void tick(PooledConnection connection) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            connection.seats.tick();
            planLocked(steps);
            giveBackLocked(connection, steps);
        }
        steps.forEach(Runnable::run);
    }

    /** Closes every connection; whoever waits or comes is sent away. Idempotent. */
    void close() {
        List<PooledConnection> open;
        synchronized (this) {
            closed = true;
            open = List.copyOf(connections);
            connections.clear();
        }
        open.forEach(PooledConnection::shut);
    }

    private boolean reclaimLocked(Seat kept) {
        PooledConnection connection = kept.connection();
        boolean reclaimed = connection.seats.reclaim(kept);
        if (reclaimed && connection.phase != PooledConnection.Phase.OPEN) {
            connection.seats.giveBack();
            return false;
        }
        return reclaimed;
    }

    /** Seats who waits, as far as there are seats, and makes connections for the others, as far as none are coming. */
    private void planLocked(List<Runnable> steps) {
        PooledConnection roomy = fullestWithRoomLocked();
        while (roomy != null && !waiting.isEmpty()) {
            PooledConnection connection = roomy;
            Exchange exchange = nextLocked();
            Seat seat = connection.seats.take(connection);
            steps.add(() -> connection.carry(exchange, seat));
            roomy = fullestWithRoomLocked();
        }
        while (waiting.size() > comingLocked() && !closed) {
            PooledConnection connection = new PooledConnection(this, endpoint, loops);
            connections.add(connection);
            Exchange driver = nextLocked();
            Seat seat = connection.seats.take(connection);
            steps.add(() -> connection.connect(driver, seat));
        }
    }

    private @Nullable PooledConnection fullestWithRoomLocked() {
        PooledConnection best = null;
        for (PooledConnection each : connections) {
            int free = each.phase == PooledConnection.Phase.OPEN ? each.seats.free() : 0;
            if (free > 0 && (best == null || free < best.seats.free())) {
                best = each;
            }
        }
        return best;
    }

    /** How many seats are to be expected without another connection. */
    private long comingLocked() {
        long coming = 0;
        for (PooledConnection each : connections) {
            if (each.phase == PooledConnection.Phase.MAKING) {
                coming += expected == 0 ? Integer.MAX_VALUE : expected - 1;
            } else if (each.phase == PooledConnection.Phase.OPEN && each.seats.limit() == 0) {
                // a server that allows nothing for the moment would allow it on no other connection either
                coming += Integer.MAX_VALUE;
            }
        }
        return coming;
    }

    private Exchange nextLocked() {
        Iterator<Exchange> first = waiting.iterator();
        Exchange exchange = first.next();
        first.remove();
        return exchange;
    }

    private void giveBackLocked(PooledConnection connection, List<Runnable> steps) {
        if (!connection.seats.unused()) {
            return;
        }
        if (connection.phase == PooledConnection.Phase.RETIRED) {
            steps.add(connection::shut);
        } else if (connection.phase == PooledConnection.Phase.OPEN) {
            steps.add(() -> endpoint.timekeeper().schedule(IDLE, () -> shutIfUnused(connection)));
        }
    }

    private void shutIfUnused(PooledConnection connection) {
        synchronized (this) {
            if (!connection.seats.unused() || connection.phase != PooledConnection.Phase.OPEN) {
                return;
            }
            forgetLocked(connection);
        }
        connection.shut();
    }

    private void forgetLocked(PooledConnection connection) {
        connection.phase = PooledConnection.Phase.GONE;
        connections.remove(connection);
    }
}
