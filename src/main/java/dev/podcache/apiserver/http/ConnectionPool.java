package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.credentials.Identity;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections for one kind of traffic to one server. Opens them, and gives each exchange a stream. Uses as few
 * connections as the server's stream limit allows. Thread-safe.
 */
final class ConnectionPool implements AutoCloseable {

    /*
     * The lock guards the exchanges that wait, the connections, and what the pool knows of each. Only bookkeeping
     * happens under the lock: every method decides under the lock what to do, and does it afterwards. Only the lock of
     * DialGate is taken while it is held.
     *
     * Until the server has sent its stream limit (SETTINGS), one connection is opened and all exchanges wait for it.
     * After that, as many are opened at once as the waiting exchanges need. HTTP/1.1 has a limit of one. A connection
     * that was opened with a client certificate other than the current one gets no new streams.
     */

    private static final Logger log = LoggerFactory.getLogger(ConnectionPool.class);

    private final Connector connector;
    private final Traffic traffic;
    private final VertxNetwork network;
    private final Set<Exchange> exchanges = ConcurrentHashMap.newKeySet();
    private final ConnectionTable connections = new ConnectionTable(); // guarded by this
    private final Set<Exchange> waiting = new LinkedHashSet<>(); // guarded by this
    private @Nullable Identity current; // guarded by this; the latest identity of any exchange
    private boolean warnedFull; // guarded by this
    private boolean closed; // guarded by this

    ConnectionPool(Connector connector, Traffic traffic, VertxNetwork network) {
        this.connector = connector;
        this.traffic = traffic;
        this.network = network;
        if (traffic.gated()) {
            connector.gate().observe(() -> plan(steps -> {}));
        }
    }

    synchronized int size() {
        return connections.size();
    }

    Connector connector() {
        return connector;
    }

    boolean offersHttp2() {
        return traffic.http2();
    }

    /** Sends {@code exchange}. Returns at once. */
    void send(Exchange exchange) {
        exchanges.add(exchange);
        network.start()
                .thenCombine(connector.credentials().current(), (started, identity) -> identity)
                .whenComplete((identity, thrown) -> {
                    if (identity == null) {
                        exchange.fail(ApiServerException.causeOf(thrown));
                    } else {
                        submit(exchange, identity);
                    }
                });
    }

    /** Reports that {@code exchange} has ended. */
    void ended(Exchange exchange) {
        exchanges.remove(exchange);
        act(steps -> waiting.remove(exchange));
    }

    /** Sends {@code exchange} with {@code identity}, for the first time or again. Returns at once. */
    void submit(Exchange exchange, Identity identity) {
        exchange.setIdentity(identity);
        plan(steps -> {
            if (closed) {
                steps.add(exchange::abort);
            } else if (!exchange.isOver()) {
                changeIdentityLocked(identity, steps);
                waiting.add(exchange);
            }
        });
    }

    /** Reports that {@code connection} is open and allows {@code limit} streams. */
    void opened(Connection connection, int limit) {
        act(steps -> {
            if (connection.stage == ConnectionStage.OPENING) {
                connection.stage = ConnectionStage.OPEN;
            }
            connections.limit(connection, limit);
            planLocked(steps);
            closeWhenIdleLocked(connection, steps);
            if (traffic.gated()) {
                steps.add(connector.gate()::reached);
            }
        });
    }

    /** Reports that the server changed the stream limit of {@code connection}. */
    void limited(Connection connection, int limit) {
        plan(steps -> connections.limit(connection, limit));
    }

    /**
     * Reports that {@code connection} could not be opened. Fails all waiting exchanges unless another is being opened.
     */
    void failed(Connection connection, Throwable cause) {
        act(steps -> {
            removeLocked(connection);
            if (traffic.gated()) {
                steps.add(() -> connector.gate().failed(cause));
            }
            if (connections.expectedStreams() == 0) {
                failWaitingLocked(cause, steps);
            }
        });
    }

    /** Stops new streams on {@code connection}, and closes it when its last stream has ended. */
    void retired(Connection connection) {
        plan(steps -> retireLocked(connection, steps));
    }

    /** Stops new streams on all connections. Streams in use continue. */
    void retireAll() {
        plan(steps -> connections.all().forEach(connection -> retireLocked(connection, steps)));
    }

    /** Reports that {@code connection} was closed. */
    void connectionClosed(Connection connection) {
        plan(steps -> removeLocked(connection));
    }

    /** Reports that a stream of {@code connection} is free again. */
    void released(Connection connection) {
        act(steps -> {
            connection.taken--;
            closeIfDrainedLocked(connection, steps);
            planLocked(steps);
            closeWhenIdleLocked(connection, steps);
        });
    }

    /** Ends every exchange and closes every connection. Idempotent. */
    @Override
    public void close() {
        act(steps -> {
            closed = true;
            exchanges.forEach(exchange -> steps.add(exchange::abort));
            for (Connection connection : connections.all()) {
                removeLocked(connection);
                steps.add(connection::shut);
            }
        });
    }

    /** Runs {@code decision} under the lock, and afterwards the steps that it added to its list. */
    private void act(Consumer<List<Runnable>> decision) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            decision.accept(steps);
        }
        steps.forEach(Runnable::run);
    }

    /** Runs {@code change} and {@link #planLocked} under the lock, and afterwards the steps that they added. */
    private void plan(Consumer<List<Runnable>> change) {
        act(steps -> {
            change.accept(steps);
            planLocked(steps);
        });
    }

    private void changeIdentityLocked(Identity identity, List<Runnable> steps) {
        Identity before = current;
        if (before != null && before.number() >= identity.number()) {
            return;
        }
        current = identity;
        for (Connection connection : connections.all()) {
            if (!connection.identity().sharesConnectionsWith(identity)) {
                retireLocked(connection, steps);
            }
        }
    }

    private void retireLocked(Connection connection, List<Runnable> steps) {
        if (connection.stage == ConnectionStage.OPENING && traffic.gated()) {
            steps.add(connector.gate()::abandoned);
        }
        if (connection.stage == ConnectionStage.OPENING || connection.stage == ConnectionStage.OPEN) {
            connection.stage = ConnectionStage.RETIRED;
        }
        closeIfDrainedLocked(connection, steps);
    }

    /** Gives the free streams to waiting exchanges, and opens connections for the remaining ones. */
    private void planLocked(List<Runnable> steps) {
        Iterator<Exchange> next = waiting.iterator();
        while (next.hasNext()) {
            Exchange exchange = next.next();
            Connection connection = connections.withFreeStream(exchange.preferred());
            if (connection == null) {
                break;
            }
            next.remove();
            connection.taken++;
            steps.add(() -> connection.send(exchange));
        }
        Throwable unreachable = null;
        while (unreachable == null && waiting.size() > connections.expectedStreams() && mayOpenLocked(steps)) {
            unreachable = traffic.gated() ? connector.gate().tryEnter() : null;
            if (unreachable == null) {
                openLocked(steps);
            }
        }
        if (unreachable != null
                && connections.expectedStreams() == 0
                && !connector.gate().isDialling()) {
            failWaitingLocked(unreachable, steps);
        }
        if (traffic.spare()
                && connections.needsSpare()
                && mayOpenLocked(steps)
                && connector.gate().tryEnter() == null) {
            openLocked(steps);
        }
    }

    private void failWaitingLocked(Throwable cause, List<Runnable> steps) {
        waiting.forEach(exchange -> steps.add(() -> exchange.fail(cause)));
        waiting.clear();
    }

    private boolean mayOpenLocked(List<Runnable> steps) {
        int open = connections.size();
        boolean full = open >= traffic.mostConnections();
        if (full && !warnedFull && traffic.mostConnections() > 1 && !waiting.isEmpty()) {
            warnedFull = true;
            int requests = waiting.size();
            steps.add(() -> log.warn(
                    "{} connections to {} are open, which is the maximum; {} requests wait for a free stream",
                    open,
                    connector,
                    requests));
        }
        return !closed && !full;
    }

    private void openLocked(List<Runnable> steps) {
        Identity identity = Objects.requireNonNull(current, "no exchange was submitted yet");
        Connection connection = new Connection(this, connector, identity, network);
        connections.add(connection);
        steps.add(connection::open);
    }

    private void closeIfDrainedLocked(Connection connection, List<Runnable> steps) {
        if (connection.taken == 0 && connection.stage == ConnectionStage.RETIRED) {
            removeLocked(connection);
            steps.add(connection::shut);
        }
    }

    /** Closes {@code connection} after its idle time, if it is unused now and still unused then. */
    private void closeWhenIdleLocked(Connection connection, List<Runnable> steps) {
        if (connection.isUnusedLocked()) {
            steps.add(() -> connector
                    .timekeeper()
                    .schedule(traffic.idle(), () -> act(later -> closeUnusedLocked(connection, later))));
        }
    }

    private void closeUnusedLocked(Connection connection, List<Runnable> steps) {
        if (traffic.spare() && connections.needsToKeep(connection)) {
            closeWhenIdleLocked(connection, steps);
        } else if (connection.isUnusedLocked()) {
            retireLocked(connection, steps);
        }
    }

    private void removeLocked(Connection connection) {
        connection.stage = ConnectionStage.CLOSED;
        connections.remove(connection);
    }
}
