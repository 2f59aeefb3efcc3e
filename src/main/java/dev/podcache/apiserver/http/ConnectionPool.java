package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
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
 * The connections of one kind of traffic to one server. It finds each exchange a stream on as few connections as the
 * server's limit allows, and opens the connections. Thread-safe.
 */
final class ConnectionPool implements AutoCloseable {

    /*
     * The lock covers which exchanges wait, which connections there are, and what the pool knows of each. Under it
     * nothing is done but bookkeeping: every method decides under the lock what is to be done, and does it afterwards.
     * Inside it only the locks of the DialGate and the VertxNetwork are taken.
     *
     * Until the server has told its limit (SETTINGS), one connection is opened and all exchanges wait for that. From then
     * on as many are opened at once as the waiting need. HTTP/1.1 is a limit of one. A connection that was opened with
     * another client certificate than the current one takes no new streams.
     */

    private static final Logger log = LoggerFactory.getLogger(ConnectionPool.class);

    private final Connector connector;
    private final Traffic traffic;
    private final VertxNetwork network;
    private final Set<Exchange> exchanges = ConcurrentHashMap.newKeySet();
    private final ConnectionTable connections = new ConnectionTable(); // guarded by this
    private final Set<Exchange> waiting = new LinkedHashSet<>(); // guarded by this
    private @Nullable Identity current; // guarded by this; the latest that an exchange had
    private boolean toldFull; // guarded by this
    private boolean closed; // guarded by this

    ConnectionPool(Connector connector, Traffic traffic, VertxNetwork network) {
        this.connector = connector;
        this.traffic = traffic;
        this.network = network;
        if (traffic.gated()) {
            connector.gate().observe(() -> plan(steps -> {}));
        }
    }

    boolean offersHttp2() {
        return traffic.http2();
    }

    /** Has {@code exchange} sent. Returns at once. */
    void send(Exchange exchange) {
        exchange.whenOver(() -> {
            exchanges.remove(exchange);
            act(steps -> waiting.remove(exchange));
        });
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

    /** Has {@code exchange} sent with {@code identity}, perhaps once more. Returns at once. */
    void submit(Exchange exchange, Identity identity) {
        exchange.identify(identity);
        plan(steps -> {
            if (closed) {
                steps.add(exchange::abort);
            } else if (!exchange.isOver()) {
                changeIdentityLocked(identity, steps);
                waiting.add(exchange);
            }
        });
    }

    /** {@code connection} can be used for {@code limit} streams. */
    void opened(Connection connection, int limit) {
        act(steps -> {
            if (connection.stage == Connection.Stage.OPENING) {
                connection.stage = Connection.Stage.OPEN;
            }
            connections.limit(connection, limit);
            planLocked(steps);
            idleLocked(connection, steps);
            if (traffic.gated()) {
                steps.add(connector.gate()::reached);
            }
        });
    }

    /** A connection brought its first answer, over HTTP/1.1. */
    void answeredWithHttp11(Identity identity) {
        if (offersHttp2()) {
            connector.answeredWithHttp11(identity);
        }
    }

    /** The server changed the limit. */
    void limited(Connection connection, int limit) {
        plan(steps -> connections.limit(connection, limit));
    }

    /** {@code connection} could not be opened. If no other is being opened, all that wait for one fail too. */
    void failed(Connection connection, Throwable cause) {
        act(steps -> {
            goneLocked(connection);
            if (traffic.gated()) {
                steps.add(() -> connector.gate().failed(cause));
            }
            if (connections.coming() == 0) {
                failWaitingLocked(cause, steps);
            }
        });
    }

    /** {@code connection} takes no new streams. */
    void retired(Connection connection) {
        plan(steps -> retireLocked(connection, steps));
    }

    /** Every connection that there is takes no new streams; what they carry goes on. */
    void retireAll() {
        plan(steps -> connections.all().forEach(connection -> retireLocked(connection, steps)));
    }

    /** {@code connection} was closed. */
    void gone(Connection connection) {
        plan(steps -> goneLocked(connection));
    }

    /** A stream of {@code connection} is free. */
    void left(Connection connection) {
        act(steps -> {
            connection.taken--;
            dropIfDoneLocked(connection, steps);
            planLocked(steps);
            idleLocked(connection, steps);
        });
    }

    /** Ends every exchange and closes every connection. Idempotent. */
    @Override
    public void close() {
        act(steps -> {
            closed = true;
            exchanges.forEach(exchange -> steps.add(exchange::abort));
            for (Connection connection : connections.all()) {
                goneLocked(connection);
                steps.add(connection::shut);
            }
        });
    }

    /** Has {@code decision} made under the lock, and does afterwards what it adds to its list. */
    private void act(Consumer<List<Runnable>> decision) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            decision.accept(steps);
        }
        steps.forEach(Runnable::run);
    }

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
        if (connection.stage == Connection.Stage.OPENING && traffic.gated()) {
            steps.add(connector.gate()::givenUp);
        }
        if (connection.stage == Connection.Stage.OPENING || connection.stage == Connection.Stage.OPEN) {
            connection.stage = Connection.Stage.RETIRED;
        }
        dropIfDoneLocked(connection, steps);
    }

    /** Gives streams to the exchanges that wait, as far as there are some, and opens connections for the others. */
    private void planLocked(List<Runnable> steps) {
        Iterator<Exchange> next = waiting.iterator();
        while (next.hasNext()) {
            Exchange exchange = next.next();
            Connection connection = connections.withRoom(exchange.preferred());
            if (connection == null) {
                break;
            }
            next.remove();
            connection.taken++;
            steps.add(() -> connection.carry(exchange));
        }
        Throwable unreachable = null;
        while (unreachable == null && waiting.size() > connections.coming() && mayOpenLocked(steps)) {
            unreachable = traffic.gated() ? connector.gate().enter() : null;
            if (unreachable == null) {
                openLocked(steps);
            }
        }
        if (unreachable != null
                && connections.coming() == 0
                && !connector.gate().isProbed()) {
            failWaitingLocked(unreachable, steps);
        }
        if (traffic.spare()
                && connections.isScarce()
                && mayOpenLocked(steps)
                && connector.gate().enter() == null) {
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
        if (full && !toldFull && traffic.mostConnections() > 1 && !waiting.isEmpty()) {
            toldFull = true;
            int requests = waiting.size();
            steps.add(() -> log.warn(
                    "{} connections to {} are open, which is the most; {} requests wait for one",
                    open,
                    connector,
                    requests));
        }
        return !closed && !full;
    }

    private void openLocked(List<Runnable> steps) {
        Identity identity = Objects.requireNonNull(current, "opened before any exchange came");
        Connection connection = new Connection(this, connector, identity, network);
        connections.add(connection);
        steps.add(connection::open);
    }

    private void dropIfDoneLocked(Connection connection, List<Runnable> steps) {
        if (connection.taken == 0 && connection.stage == Connection.Stage.RETIRED) {
            goneLocked(connection);
            steps.add(connection::shut);
        }
    }

    /** Closes {@code connection} after a while if it carries nothing now, and nothing then. */
    private void idleLocked(Connection connection, List<Runnable> steps) {
        if (connection.isUnusedLocked()) {
            steps.add(() -> connector
                    .timekeeper()
                    .schedule(traffic.idle(), () -> act(later -> dropUnusedLocked(connection, later))));
        }
    }

    private void dropUnusedLocked(Connection connection, List<Runnable> steps) {
        if (traffic.spare() && connections.needs(connection)) {
            idleLocked(connection, steps);
        } else if (connection.isUnusedLocked()) {
            retireLocked(connection, steps);
        }
    }

    private void goneLocked(Connection connection) {
        connection.stage = Connection.Stage.GONE;
        connections.remove(connection);
    }
}
