package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one kind of traffic to one server. It finds each exchange a stream on as few connections as the
 * server's limit allows, and opens the connections. Thread-safe.
 */
final class ConnectionPool implements AutoCloseable {

    /*
     * The lock covers who waits, which connections there are, and what the pool knows of each. Under it nothing is done
     * but bookkeeping: every method decides under the lock what is to be done, and does it afterwards. It is taken on
     * event loops, workers and the timer alike; inside it only those of the DialGate and of timers are taken.
     *
     * While nobody knows the server's limit, one connection is opened and all others wait for what it says (SETTINGS).
     * From then on as many are opened at once as the waiting need. HTTP/1.1 is a limit of one.
     *
     * An exchange goes over the fullest connection that has room, so that connections empty out as watches end. One
     * that carries nothing is closed after a while. A spare one is opened before the last stream is taken, so that
     * hardly anybody waits for a TLS handshake: when no more than a tenth of one connection is free; it is closed only
     * when a fifth is free elsewhere, so that it does not come and go.
     *
     * A connection that was opened with another client certificate than the current one takes no new streams.
     */

    private static final Logger log = LoggerFactory.getLogger(ConnectionPool.class);
    private static final int SCARCE = 10;
    private static final int PLENTY = 5;

    private final Connector connector;
    private final Traffic traffic;
    private final VertxNetwork network;
    private final Set<Exchange> exchanges = ConcurrentHashMap.newKeySet();
    private final List<Connection> connections = new ArrayList<>(); // guarded by this; all but those that are gone
    private final Set<Exchange> waiting = new LinkedHashSet<>(); // guarded by this
    private int expected; // guarded by this; the limit that the server last told, 0 before that
    private @Nullable Identity current; // guarded by this; the latest that an exchange had
    private boolean toldFull; // guarded by this
    private boolean closed; // guarded by this

    /**
     * What a pool is for.
     *
     * @param http2 whether HTTP/2 is offered
     * @param spare whether a connection is opened before it is needed
     * @param mostConnections how many there may be; what needs more waits
     * @param idle for how long a connection that carries nothing is kept
     * @param gated whether it is the {@link DialGate} that says when the server may be dialled
     */
    record Traffic(boolean http2, boolean spare, int mostConnections, Duration idle, boolean gated) {

        private static final Duration LONGER_THAN_A_TTL = Duration.ofSeconds(90);

        static final Traffic WATCHES = new Traffic(true, true, 8192, Duration.ofSeconds(5), true);
        static final Traffic REQUESTS = new Traffic(true, false, 64, LONGER_THAN_A_TTL, true);
        static final Traffic HEARTBEATS = new Traffic(false, false, 1, LONGER_THAN_A_TTL, false);
    }

    ConnectionPool(Connector connector, Traffic traffic, VertxNetwork network) {
        this.connector = connector;
        this.traffic = traffic;
        this.network = network;
        if (traffic.gated) {
            connector.gate().observe(this::plan);
        }
    }

    boolean offersHttp2() {
        return traffic.http2;
    }

    /** Has {@code exchange} sent. Returns at once. */
    void send(Exchange exchange) {
        exchange.whenOver(() -> forget(exchange));
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
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            if (closed) {
                steps.add(exchange::abort);
            } else if (!exchange.isOver()) {
                changeIdentityLocked(identity, steps);
                waiting.add(exchange);
                planLocked(steps);
            }
        }
        steps.forEach(Runnable::run);
    }

    private void forget(Exchange exchange) {
        exchanges.remove(exchange);
        synchronized (this) {
            waiting.remove(exchange);
        }
    }

    /** {@code connection} can be used for {@code limit} streams. */
    void opened(Connection connection, int limit) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            if (connection.stage == Connection.Stage.OPENING) {
                connection.stage = Connection.Stage.OPEN;
            }
            limitLocked(connection, limit);
            planLocked(steps);
            idleLocked(connection, steps);
        }
        steps.forEach(Runnable::run);
        if (traffic.gated) {
            connector.gate().reached();
        }
    }

    /** The server changed the limit. */
    void limited(Connection connection, int limit) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            limitLocked(connection, limit);
            planLocked(steps);
        }
        steps.forEach(Runnable::run);
    }

    private void plan() {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            planLocked(steps);
        }
        steps.forEach(Runnable::run);
    }

    /** {@code connection} could not be opened. Nobody waits longer than there is hope. */
    void failed(Connection connection, Throwable cause) {
        List<Exchange> hopeless = List.of();
        synchronized (this) {
            goneLocked(connection);
            if (comingLocked() == 0) {
                hopeless = List.copyOf(waiting);
                waiting.clear();
            }
        }
        if (traffic.gated) {
            connector.gate().failed(cause);
        }
        hopeless.forEach(exchange -> exchange.fail(cause));
    }

    /** {@code connection} takes no new streams. */
    void retired(Connection connection) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            retireLocked(connection, steps);
            planLocked(steps);
        }
        steps.forEach(Runnable::run);
    }

    /** Every connection that there is takes no new streams; what they carry goes on. */
    void retireAll() {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            List.copyOf(connections).forEach(connection -> retireLocked(connection, steps));
            planLocked(steps);
        }
        steps.forEach(Runnable::run);
    }

    /** {@code connection} is no more. */
    void gone(Connection connection) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            goneLocked(connection);
            planLocked(steps);
        }
        steps.forEach(Runnable::run);
    }

    /** A stream of {@code connection} is free. */
    void left(Connection connection) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            connection.taken--;
            dropIfDoneLocked(connection, steps);
            planLocked(steps);
            idleLocked(connection, steps);
        }
        steps.forEach(Runnable::run);
    }

    /** Ends every exchange and closes every connection. Idempotent. */
    @Override
    public void close() {
        List<Connection> open;
        synchronized (this) {
            closed = true;
            open = List.copyOf(connections);
            connections.clear();
        }
        exchanges.forEach(Exchange::abort);
        open.forEach(Connection::shut);
    }

    private void changeIdentityLocked(Identity identity, List<Runnable> steps) {
        Identity before = current;
        if (before != null && before.number() >= identity.number()) {
            return;
        }
        current = identity;
        if (before != null && !before.sharesConnectionsWith(identity)) {
            List.copyOf(connections).stream()
                    .filter(connection -> !connection.identity().sharesConnectionsWith(identity))
                    .forEach(connection -> retireLocked(connection, steps));
        }
    }

    private void limitLocked(Connection connection, int limit) {
        connection.limit = limit;
        expected = limit;
    }

    private void retireLocked(Connection connection, List<Runnable> steps) {
        if (connection.stage == Connection.Stage.OPENING && traffic.gated) {
            steps.add(connector.gate()::givenUp);
        }
        if (connection.stage == Connection.Stage.OPENING || connection.stage == Connection.Stage.OPEN) {
            connection.stage = Connection.Stage.RETIRED;
        }
        dropIfDoneLocked(connection, steps);
    }

    /** Gives streams to who waits, as far as there are some, and opens connections for the others. */
    private void planLocked(List<Runnable> steps) {
        while (!waiting.isEmpty()) {
            Iterator<Exchange> first = waiting.iterator();
            Exchange exchange = first.next();
            Connection connection = roomyLocked(exchange.preferred());
            if (connection == null) {
                break;
            }
            first.remove();
            connection.taken++;
            steps.add(() -> connection.carry(exchange));
        }
        Throwable unreachable = null;
        while (unreachable == null && waiting.size() > comingLocked() && mayOpenLocked()) {
            unreachable = traffic.gated ? connector.gate().enter() : null;
            if (unreachable == null) {
                openLocked(steps);
            }
        }
        if (unreachable != null
                && comingLocked() == 0
                && !(traffic.gated && connector.gate().isProbed())) {
            Throwable cause = unreachable;
            List<Exchange> hopeless = List.copyOf(waiting);
            waiting.clear();
            hopeless.forEach(exchange -> steps.add(() -> exchange.fail(cause)));
        }
        if (traffic.spare
                && isScarceLocked()
                && mayOpenLocked()
                && connector.gate().enter() == null) {
            openLocked(steps);
        }
    }

    private boolean mayOpenLocked() {
        boolean full = connections.size() >= traffic.mostConnections;
        if (full && !toldFull && traffic.mostConnections > 1 && !waiting.isEmpty()) {
            toldFull = true;
            log.warn(
                    "{} connections to {} are open, which is the most; {} requests wait for one",
                    connections.size(),
                    connector,
                    waiting.size());
        }
        return !closed && !full;
    }

    private void openLocked(List<Runnable> steps) {
        Connection connection =
                new Connection(this, connector, Objects.requireNonNull(current, "opened for nobody"), network);
        connections.add(connection);
        steps.add(connection::open);
    }

    private @Nullable Connection roomyLocked(@Nullable Connection preferred) {
        if (preferred != null && preferred.pool() == this && preferred.freeLocked() > 0) {
            return preferred;
        }
        Connection best = null;
        for (Connection each : connections) {
            int free = each.freeLocked();
            if (free > 0 && (best == null || free < best.freeLocked())) {
                best = each;
            }
        }
        return best;
    }

    /** How many streams are to be expected without another connection. */
    private long comingLocked() {
        long coming = 0;
        for (Connection each : connections) {
            if (each.stage == Connection.Stage.OPENING) {
                coming += expected == 0 ? Integer.MAX_VALUE : expected;
            } else if (each.stage == Connection.Stage.OPEN && each.limit == 0) {
                // a server that allows nothing for the moment would allow it on no other connection either
                coming += Integer.MAX_VALUE;
            }
        }
        return coming;
    }

    private boolean isScarceLocked() {
        return expected >= SCARCE
                && comingLocked() == 0
                && connections.stream().anyMatch(each -> each.taken > 0)
                && freeLocked(null) <= expected / SCARCE;
    }

    /** Whether {@code spare}, which carries nothing, is to be kept for who may come. */
    private boolean isNeededLocked(Connection spare) {
        return traffic.spare
                && expected >= SCARCE
                && connections.stream().anyMatch(each -> !each.equals(spare) && each.taken > 0)
                && freeLocked(spare) < expected / PLENTY;
    }

    private int freeLocked(@Nullable Connection but) {
        return connections.stream()
                .filter(each -> !each.equals(but))
                .mapToInt(Connection::freeLocked)
                .sum();
    }

    private void dropIfDoneLocked(Connection connection, List<Runnable> steps) {
        if (connection.taken == 0 && connection.stage == Connection.Stage.RETIRED) {
            goneLocked(connection);
            steps.add(connection::shut);
        }
    }

    private void idleLocked(Connection connection, List<Runnable> steps) {
        if (connection.taken == 0 && connection.stage == Connection.Stage.OPEN) {
            steps.add(() -> connector.timekeeper().schedule(traffic.idle, () -> shutIfUnused(connection)));
        }
    }

    private void shutIfUnused(Connection connection) {
        synchronized (this) {
            if (connection.taken > 0 || connection.stage != Connection.Stage.OPEN) {
                return;
            }
            if (isNeededLocked(connection)) {
                connector.timekeeper().schedule(traffic.idle, () -> shutIfUnused(connection));
                return;
            }
            goneLocked(connection);
        }
        connection.shut();
    }

    private void goneLocked(Connection connection) {
        connection.stage = Connection.Stage.GONE;
        connections.remove(connection);
    }
}
