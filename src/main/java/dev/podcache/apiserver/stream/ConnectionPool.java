package dev.podcache.apiserver.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds each exchange a stream on as few connections as the server's limit allows, and makes
 * the connections. Thread-safe.
 */
final class ConnectionPool {

    /*
     * The lock covers who waits, which connections there are, and the books of each. Under it nothing is done but
     * bookkeeping: every method decides under the lock what is to be done and does it afterwards. It is taken on event
     * loops, workers and the timer alike, and inside it no other lock is.
     *
     * While nobody knows the server's limit, one connection is made and all others wait for what it says (SETTINGS).
     * From then on as many are made at once as the waiting need.
     *
     * An exchange is seated on the fullest connection that has room: so connections empty out as watches end, and one
     * without a taken seat is given back, unless it is the spare one that Capacity wants.
     */

    private static final Duration IDLE = Duration.ofSeconds(5);

    private final Endpoint endpoint;
    private final EventLoops loops;
    private final SingleConnections singles;
    private final Capacity capacity = new Capacity(); // guarded by this
    private final Set<Exchange> waiting = new LinkedHashSet<>(); // guarded by this
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
            capacity.limited(connection, limit);
            planLocked(steps);
            giveBackLocked(connection, steps);
        }
        steps.forEach(Runnable::run);
    }

    /** The server changed the limit. */
    void limited(PooledConnection connection, int limit) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            capacity.limited(connection, limit);
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
            if (capacity.coming() == 0) {
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
            open = capacity.takeAll();
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
        PooledConnection roomy = capacity.fullestWithRoom();
        while (roomy != null && !waiting.isEmpty()) {
            PooledConnection connection = roomy;
            Exchange exchange = nextLocked();
            Seat seat = connection.seats.take(connection);
            steps.add(() -> connection.carry(exchange, seat));
            roomy = capacity.fullestWithRoom();
        }
        while (waiting.size() > capacity.coming() && !closed) {
            PooledConnection connection = anotherLocked();
            Exchange driver = nextLocked();
            Seat seat = connection.seats.take(connection);
            steps.add(() -> connection.connect(driver, seat));
        }
        if (capacity.isScarce() && !closed) {
            PooledConnection spare = anotherLocked();
            Seat seat = spare.seats.take(spare);
            steps.add(() -> connectSpare(spare, seat));
        }
    }

    private PooledConnection anotherLocked() {
        PooledConnection connection = new PooledConnection(this, endpoint, loops);
        capacity.add(connection);
        return connection;
    }

    /** Makes a connection that nobody asked for. */
    private void connectSpare(PooledConnection spare, Seat seat) {
        endpoint.timekeeper().blocking().execute(() -> {
            Exchange probe = Probe.of(endpoint);
            if (probe.prepare()) {
                spare.connect(probe, seat);
            } else {
                failed(spare, probe, new IllegalStateException("no credentials for a connection"));
            }
        });
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
            boolean unused = connection.seats.unused() && connection.phase == PooledConnection.Phase.OPEN;
            if (!unused || capacity.isNeeded(connection)) {
                return;
            }
            forgetLocked(connection);
        }
        connection.shut();
    }

    private void forgetLocked(PooledConnection connection) {
        connection.phase = PooledConnection.Phase.GONE;
        capacity.remove(connection);
    }
}
