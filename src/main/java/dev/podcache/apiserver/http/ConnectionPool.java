package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.credentials.Identity;
import dev.podcache.time.OutageBackoff;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
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
     * The lock guards all fields that are not final, the collections, and the slots. Only bookkeeping happens under it:
     * every method decides under the lock what to do, and does it afterwards. Only the lock of DialGate is taken while it
     * is held.
     *
     * Until the server has sent its stream limit (SETTINGS), one connection is opened and all exchanges wait for it.
     * After that, as many are opened at once as the waiting exchanges need. HTTP/1.1 has a limit of one. A connection
     * that was opened with a client certificate other than the current one gets no new streams.
     *
     * If the server ends connections before it answers anything there (GOAWAY at once), only the next one is opened at once,
     * and then one after each pause of 1 to 10 s, until an answer arrives.
     *
     * An exchange gets a stream of the fullest connection that has one free, so that the other connections drain as
     * watches end. A spare connection is opened when at most a tenth of the streams of one connection is free, so that an
     * exchange rarely waits for a TLS handshake. It is closed only when a fifth is free on the others, so that it is not
     * opened and closed repeatedly.
     *
     * A slot, and so its connection, is in one of these stages:
     *   OPENING --opened()--> OPEN            OPENING, OPEN --retired()--> RETIRED
     *   RETIRED --the last stream ended--> CLOSED    any --failed(), connectionClosed(), close()--> CLOSED
     * An OPEN slot that has no stream in use for the idle time is retired. One timer per slot looks for that.
     */

    private static final Logger log = LoggerFactory.getLogger(ConnectionPool.class);

    /** A spare connection is opened when at most this share of the streams of one connection is free, in percent. */
    private static final int SCARCE_PERCENT = 10;

    /** An unused connection is closed when at least this share is free on the others, in percent. */
    private static final int PLENTY_PERCENT = 20;

    /** The lowest stream limit with which spare connections are opened. */
    private static final int LOWEST_LIMIT_WITH_SPARE = 10;

    /**
     * The kind of traffic that a pool carries.
     *
     * @param http2 whether to offer HTTP/2
     * @param spare whether to open a spare connection before it is needed, and to keep it while it is
     * @param mostConnections the maximum number of connections, with those that are retired; requests beyond wait
     * @param idle how long to keep a connection without a stream in use
     * @param gated whether the {@link DialGate} decides when to dial the server
     */
    record Traffic(boolean http2, boolean spare, int mostConnections, Duration idle, boolean gated) {

        /** Longer than the usual minute of a TTL, so that a node with one object keeps its connection. */
        private static final Duration LONG = Duration.ofSeconds(90);

        static final Traffic WATCHES = new Traffic(true, true, 8192, Duration.ofSeconds(5), true);
        static final Traffic REQUESTS = new Traffic(true, false, 64, LONG, true);
        static final Traffic HEARTBEATS = new Traffic(false, false, 1, LONG, false);
        static final Traffic PROBE = new Traffic(true, false, 1, LONG, false);
    }

    /** What an exchange is sent with. */
    private record ReadyRequest(Identity identity, Map<String, List<String>> headers) {}

    private enum Stage {
        OPENING,
        OPEN,
        /** Gets no new streams, and is closed when the last one has ended. */
        RETIRED,
        CLOSED
    }

    /** What the pool knows of one connection. Guarded by the pool. */
    final class ConnectionSlot {
        private final Identity identity;
        private final int number; // from 1, of those of the pool
        private Stage stage = Stage.OPENING;
        private int limit; // the number of streams that the server allows; may become less than taken
        private int taken; // the number of streams in use
        private long unusedSince; // nanoseconds; means something while OPEN and unused
        private boolean hasTimer; // whether the timer of the idle time runs
        private final Connection connection;

        ConnectionSlot(Identity identity, int number) {
            this.identity = identity;
            this.number = number;
            this.connection = new Connection(ConnectionPool.this, this, identity, endpoint, network);
        }

        int number() {
            return number;
        }

        private int freeLocked() {
            return stage == Stage.OPEN ? Math.max(0, limit - taken) : 0;
        }

        private boolean isUnusedLocked() {
            return stage == Stage.OPEN && taken == 0;
        }
    }

    private final ServerEndpoint endpoint;
    private final Traffic traffic;
    private final NettyNetwork network;
    private final Set<Exchange> exchanges = new HashSet<>(); // guarded by this; those that are not over
    private final List<ConnectionSlot> slots = new ArrayList<>(); // guarded by this; those that are not closed
    private final Map<Exchange, ReadyRequest> waiting = new LinkedHashMap<>(); // guarded by this; for a stream
    private @Nullable Identity current; // guarded by this; the latest identity of any exchange
    private int latestNumber; // guarded by this
    private int latestLimit; // guarded by this; the server's last stream limit; 0 before, or if it allows none
    private boolean warnedFull; // guarded by this
    // All guarded by this. Counts connections that the server ended before it answered anything there, since the last
    // answer on a new one. To a client that is no better than an unreachable server, and the pauses are the same.
    private int fruitless;
    private long firstFruitless; // nanoseconds, like those below; means something unless fruitless is 0
    private long lastFruitless;
    private long openNotBefore;
    private final OutageBackoff pauses = new OutageBackoff();

    private boolean hasOpenTimer; // guarded by this
    private boolean closed; // guarded by this

    ConnectionPool(ServerEndpoint endpoint, Traffic traffic, NettyNetwork network) {
        this.endpoint = endpoint;
        this.traffic = traffic;
        this.network = network;
        if (traffic.gated()) {
            endpoint.gate().observe(() -> plan(steps -> {}));
        }
    }

    /** Returns how many connections carry {@code streams} streams of watches, the spare one included. */
    static int connectionsFor(int streams, int limit) {
        int full = (streams + limit - 1) / limit;
        boolean spare = limit >= LOWEST_LIMIT_WITH_SPARE
                && streams > 0
                && full * limit - streams <= percentOf(limit, SCARCE_PERCENT);
        return spare ? full + 1 : full;
    }

    private static int percentOf(int limit, int percent) {
        return limit * percent / 100;
    }

    ServerEndpoint endpoint() {
        return endpoint;
    }

    Timekeeper timekeeper() {
        return endpoint.timekeeper();
    }

    boolean offersHttp2() {
        return traffic.http2();
    }

    /** Returns the number of connections that are not closed. */
    synchronized int size() {
        return slots.size();
    }

    /** Returns whether the connection of {@code slot} is open and accepts requests. */
    synchronized boolean isOpen(ConnectionSlot slot) {
        return slot.stage == Stage.OPEN;
    }

    /** Runs {@code task} on the event loop of all connections of this pool, which must have been started. */
    void execute(Runnable task) {
        network.execute(task);
    }

    /** Sends {@code exchange}. Returns at once. */
    void send(Exchange exchange) {
        send(exchange, Duration.ZERO);
    }

    /** Sends {@code exchange} after {@code wait}. Its timeout starts now. Returns at once. */
    void send(Exchange exchange, Duration wait) {
        act(steps -> {
            if (closed) {
                steps.add(exchange::abort);
            } else {
                exchanges.add(exchange);
                steps.add(() -> begin(exchange, wait));
            }
        });
    }

    private void begin(Exchange exchange, Duration wait) {
        exchange.startTimeout();
        if (wait.isZero()) {
            identify(exchange);
        } else {
            timekeeper().schedule(wait, () -> identify(exchange));
        }
    }

    private void identify(Exchange exchange) {
        if (exchange.isOver()) {
            return;
        }
        network.start()
                .thenCombine(endpoint.credentials().current(), (started, identity) -> identity)
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
        act(steps -> {
            exchanges.remove(exchange);
            waiting.remove(exchange);
        });
    }

    /** Sends {@code exchange} with {@code identity}, for the first time or again. Returns at once. */
    void submit(Exchange exchange, Identity identity) {
        endpoint.headers(exchange.request(), identity).whenComplete((headers, thrown) -> {
            if (headers == null) {
                exchange.fail(ApiServerException.causeOf(thrown));
            } else {
                submit(exchange, identity, headers);
            }
        });
    }

    private void submit(Exchange exchange, Identity identity, Map<String, List<String>> headers) {
        plan(steps -> {
            if (closed) {
                steps.add(exchange::abort);
            } else if (!exchange.isOver()) {
                changeIdentityLocked(identity, steps);
                waiting.put(exchange, new ReadyRequest(identity, headers));
            }
        });
    }

    /** Reports that the connection of {@code slot} is open and allows {@code limit} streams. */
    void opened(ConnectionSlot slot, int limit) {
        act(steps -> {
            if (slot.stage == Stage.OPENING) {
                slot.stage = Stage.OPEN;
            }
            limitLocked(slot, limit);
            planLocked(steps);
            watchIdleTimeLocked(slot, steps);
            if (traffic.gated()) {
                steps.add(endpoint.gate()::reached);
            }
        });
    }

    /** Reports that the server changed the stream limit of a connection. */
    void limited(ConnectionSlot slot, int limit) {
        plan(steps -> limitLocked(slot, limit));
    }

    /** Reports that a connection could not be opened. Fails all waiting exchanges unless another is being opened. */
    void failed(ConnectionSlot slot, Throwable cause) {
        act(steps -> {
            removeLocked(slot);
            if (traffic.gated()) {
                steps.add(() -> endpoint.gate().failed(slot, cause));
            }
            if (streamsToComeLocked() == 0) {
                failWaitingLocked(cause, steps);
            }
        });
    }

    /** Stops new streams on a connection, and closes it when its last stream has ended. */
    void retired(ConnectionSlot slot) {
        plan(steps -> retireLocked(slot, steps));
    }

    /** Stops new streams on all connections. Streams in use continue. */
    void retireAll() {
        plan(steps -> List.copyOf(slots).forEach(slot -> retireLocked(slot, steps)));
    }

    /** Reports that a connection was closed. */
    void connectionClosed(ConnectionSlot slot) {
        plan(steps -> removeLocked(slot));
    }

    /** Reports that a stream of a connection is free again. */
    void released(ConnectionSlot slot) {
        act(steps -> {
            slot.taken--;
            closeIfDrainedLocked(slot, steps);
            planLocked(steps);
            watchIdleTimeLocked(slot, steps);
        });
    }

    /** Ends every exchange and closes every connection. Idempotent. */
    @Override
    public void close() {
        act(steps -> {
            closed = true;
            exchanges.forEach(exchange -> steps.add(exchange::abort));
            for (ConnectionSlot slot : List.copyOf(slots)) {
                removeLocked(slot);
                steps.add(slot.connection::shut);
            }
        });
    }

    /** Runs {@code decision} under the lock, and afterwards the steps that it added to its list. */
    private void act(Consumer<List<Runnable>> decision) {
        List<Runnable> steps = new ArrayList<>();
        synchronized (this) {
            decision.accept(steps);
        }
        for (Runnable step : steps) {
            try {
                step.run();
            } catch (RuntimeException | Error e) {
                // catches everything, because the other steps belong to other exchanges
                log.error("a step for the connections to {} failed; this is a bug; going on", endpoint, e);
            }
        }
    }

    /** Runs {@code change} and {@link #planLocked} under the lock, and afterwards the steps that they added. */
    private void plan(Consumer<List<Runnable>> change) {
        act(steps -> {
            change.accept(steps);
            planLocked(steps);
        });
    }

    /** Gives the free streams to waiting exchanges, and opens connections for the remaining ones. */
    private void planLocked(List<Runnable> steps) {
        Iterator<Map.Entry<Exchange, ReadyRequest>> next = waiting.entrySet().iterator();
        while (next.hasNext()) {
            Map.Entry<Exchange, ReadyRequest> entry = next.next();
            Exchange exchange = entry.getKey();
            ReadyRequest ready = entry.getValue();
            ConnectionSlot slot = withFreeStreamLocked(exchange.preferred());
            if (slot == null) {
                break;
            }
            next.remove();
            slot.taken++;
            steps.add(() -> slot.connection.send(exchange, ready.identity, ready.headers));
        }
        Throwable unreachable = null;
        while (unreachable == null && waiting.size() > streamsToComeLocked() && mayOpenLocked(steps)) {
            unreachable = openLocked(steps);
        }
        if (unreachable != null
                && streamsToComeLocked() == 0
                && !endpoint.gate().isDialling()) {
            failWaitingLocked(unreachable, steps);
        }
        if (traffic.spare() && needsSpareLocked() && mayOpenLocked(steps)) {
            openLocked(steps);
        }
    }

    /** Returns {@code preferred} if it has a free stream, else the fullest connection that has one, or null. */
    private @Nullable ConnectionSlot withFreeStreamLocked(@Nullable ConnectionSlot preferred) {
        if (preferred != null && preferred.freeLocked() > 0) {
            return preferred;
        }
        ConnectionSlot best = null;
        for (ConnectionSlot each : slots) {
            int free = each.freeLocked();
            if (free > 0 && (best == null || free < best.freeLocked())) {
                best = each;
            }
        }
        return best;
    }

    /**
     * Returns how many streams come without a new connection. Very many if the server allows none, or has not said how many: another
     * connection would not help.
     */
    private long streamsToComeLocked() {
        long streams = 0;
        for (ConnectionSlot each : slots) {
            if (each.stage == Stage.OPENING) {
                streams += latestLimit == 0 ? Integer.MAX_VALUE : latestLimit;
            } else if (each.stage == Stage.OPEN && each.limit == 0) {
                // a server that allows no streams at the moment would not allow any on another connection either
                streams += Integer.MAX_VALUE;
            }
        }
        return streams;
    }

    /** Returns whether to open a spare connection. */
    private boolean needsSpareLocked() {
        return latestLimit >= LOWEST_LIMIT_WITH_SPARE
                && streamsToComeLocked() == 0
                && isUsedLocked()
                && freeLocked() <= percentOf(latestLimit, SCARCE_PERCENT);
    }

    /** Returns whether to keep {@code spare}, which is unused. */
    private boolean needsToKeepLocked(ConnectionSlot spare) {
        return latestLimit >= LOWEST_LIMIT_WITH_SPARE
                && isUsedLocked()
                && freeLocked() - spare.freeLocked() < percentOf(latestLimit, PLENTY_PERCENT);
    }

    private boolean isUsedLocked() {
        return slots.stream().anyMatch(each -> each.taken > 0);
    }

    private int freeLocked() {
        return slots.stream().mapToInt(ConnectionSlot::freeLocked).sum();
    }

    private void failWaitingLocked(Throwable cause, List<Runnable> steps) {
        waiting.keySet().forEach(exchange -> steps.add(() -> exchange.fail(cause)));
        waiting.clear();
    }

    private boolean mayOpenLocked(List<Runnable> steps) {
        int open = slots.size();
        boolean full = open >= traffic.mostConnections();
        if (full && !warnedFull && traffic.mostConnections() > 1 && !waiting.isEmpty()) {
            warnedFull = true;
            int requests = waiting.size();
            steps.add(() -> log.warn(
                    "{} connections to {} are open, which is the maximum; {} requests wait for a free stream",
                    open,
                    endpoint,
                    requests));
        }
        return !closed && !full && !isPausedLocked(steps);
    }

    /** Returns whether the server ended the last connections before they were of use, so that the next one has to wait. */
    private boolean isPausedLocked(List<Runnable> steps) {
        long left = fruitless == 0 ? 0 : openNotBefore - timekeeper().nanoTime();
        if (left <= 0) {
            // one at a time
            return fruitless > 0 && slots.stream().anyMatch(each -> each.stage == Stage.OPENING);
        }
        if (!hasOpenTimer) {
            hasOpenTimer = true;
            steps.add(() -> timekeeper().schedule(Duration.ofNanos(left), () -> plan(later -> hasOpenTimer = false)));
        }
        return true;
    }

    /**
     * Reports that the server ended a connection before it answered anything there.
     *
     * @param begun when it was opened, in nanoseconds
     */
    void endedUnused(long begun) {
        act(steps -> {
            // those that were opened together count once
            if (traffic.gated() && (fruitless == 0 || begun - lastFruitless >= 0)) {
                long now = timekeeper().nanoTime();
                if (fruitless == 0) {
                    firstFruitless = now;
                    pauses.reset();
                }
                fruitless++;
                lastFruitless = now;
                // the first one may be of a server that shuts down
                Duration pause = fruitless == 1
                        ? Duration.ZERO
                        : pauses.pause(
                                Duration.ofNanos(now - firstFruitless),
                                ThreadLocalRandom.current().nextDouble());
                openNotBefore = now + pause.toNanos();
            }
        });
    }

    /** Reports the first answer on a connection. */
    void answered() {
        plan(steps -> fruitless = 0);
    }

    /**
     * Opens a connection that no exchange has used yet, and numbers it, unless the server is known not to be reachable.
     *
     * @return null if it is being opened, else why the server cannot be reached
     */
    private @Nullable Throwable openLocked(List<Runnable> steps) {
        Identity identity = Objects.requireNonNull(current, "no exchange was submitted yet");
        ConnectionSlot slot = new ConnectionSlot(identity, latestNumber + 1);
        Throwable unreachable = traffic.gated() ? endpoint.gate().tryEnter(slot) : null;
        if (unreachable == null) {
            latestNumber++;
            slots.add(slot);
            steps.add(slot.connection::open);
        }
        return unreachable;
    }

    /** Sets the stream limit of a connection, which is also the expected limit of connections that open later. */
    private void limitLocked(ConnectionSlot slot, int limit) {
        slot.limit = limit;
        latestLimit = limit;
    }

    private void changeIdentityLocked(Identity identity, List<Runnable> steps) {
        Identity before = current;
        if (before != null && before.number() >= identity.number()) {
            return;
        }
        current = identity;
        for (ConnectionSlot slot : List.copyOf(slots)) {
            if (!slot.identity.sharesConnectionsWith(identity)) {
                retireLocked(slot, steps);
            }
        }
    }

    private void retireLocked(ConnectionSlot slot, List<Runnable> steps) {
        if (slot.stage == Stage.OPENING && traffic.gated()) {
            steps.add(() -> endpoint.gate().abandoned(slot));
        }
        if (slot.stage == Stage.OPENING || slot.stage == Stage.OPEN) {
            slot.stage = Stage.RETIRED;
        }
        closeIfDrainedLocked(slot, steps);
    }

    private void closeIfDrainedLocked(ConnectionSlot slot, List<Runnable> steps) {
        if (slot.taken == 0 && slot.stage == Stage.RETIRED) {
            removeLocked(slot);
            steps.add(slot.connection::shut);
        }
    }

    private void removeLocked(ConnectionSlot slot) {
        slot.stage = Stage.CLOSED;
        slots.remove(slot);
    }

    /** Begins the idle time of a connection, if it is unused now. */
    private void watchIdleTimeLocked(ConnectionSlot slot, List<Runnable> steps) {
        if (slot.isUnusedLocked()) {
            slot.unusedSince = timekeeper().nanoTime();
            if (!slot.hasTimer) {
                scheduleIdleLocked(slot, traffic.idle(), steps);
            }
        }
    }

    private void scheduleIdleLocked(ConnectionSlot slot, Duration after, List<Runnable> steps) {
        slot.hasTimer = true;
        steps.add(() -> timekeeper().schedule(after, () -> act(later -> idleTimerLocked(slot, later))));
    }

    private void idleTimerLocked(ConnectionSlot slot, List<Runnable> steps) {
        slot.hasTimer = false;
        if (!slot.isUnusedLocked()) {
            return;
        }
        Duration left = traffic.idle().minusNanos(timekeeper().nanoTime() - slot.unusedSince);
        if (left.compareTo(Duration.ZERO) > 0) {
            scheduleIdleLocked(slot, left, steps);
        } else if (traffic.spare() && needsToKeepLocked(slot)) {
            scheduleIdleLocked(slot, traffic.idle(), steps);
        } else {
            retireLocked(slot, steps);
        }
    }
}
