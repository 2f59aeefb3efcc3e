package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.time.Timekeeper;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of a {@link ConnectionPool}, from the first attempt to its end: HTTP/2 with as many streams as the
 * server allows, or HTTP/1.1 with one.
 */
final class Connection implements Executor {

    /*
     * What the pool guards says what may be sent over it. Everything else belongs to one event loop; what others want of
     * it is posted there. The pool's picture may lag behind: an exchange that arrives after the connection was lost is
     * handed back to the pool.
     *
     * The addresses of the server are tried one after another, each with its share of the time.
     */

    /** What the pool knows of it. */
    enum Stage {
        OPENING,
        OPEN,
        /** Takes no new streams; goes when the last has ended. */
        RETIRED,
        GONE
    }

    private static final Logger log = LoggerFactory.getLogger(Connection.class);
    private static final Duration OPENS_WITHIN = Duration.ofSeconds(20);
    private static final Duration PLAIN_HTTP2_OPENS_WITHIN = Duration.ofSeconds(3);

    Stage stage = Stage.OPENING; // guarded by the pool, like the next two
    int limit; // how many streams the server allows; may turn out to be fewer than are taken
    int taken;

    private final ConnectionPool pool;
    private final Connector connector;
    private final Identity identity;
    private final VertxNetwork network;
    private final VertxNetwork.Loop loop;

    private final Set<Exchange> exchanges = new HashSet<>();
    private final Deque<InetSocketAddress> untried = new ArrayDeque<>();
    private Duration patience = OPENS_WITHIN; // for each address
    private @Nullable Opening opening;
    private @Nullable Wire wire; // once it is open
    private @Nullable PingMonitor pings;
    private boolean shut;

    Connection(ConnectionPool pool, Connector connector, Identity identity, VertxNetwork network) {
        this.pool = pool;
        this.connector = connector;
        this.identity = identity;
        this.network = network;
        this.loop = network.nextLoop();
    }

    ConnectionPool pool() {
        return pool;
    }

    /** The identity that it was opened with. */
    Identity identity() {
        return identity;
    }

    int freeLocked() {
        return stage == Stage.OPEN ? Math.max(0, limit - taken) : 0;
    }

    /** Runs {@code task} on its event loop. */
    @Override
    public void execute(Runnable task) {
        loop.execute(task);
    }

    /** Opens it. Returns at once. */
    void open() {
        connector
                .addresses(identity)
                .whenComplete((found, thrown) -> loop.execute(() -> {
                    if (found == null) {
                        failed(ApiServerException.causeOf(thrown));
                    } else {
                        untried.addAll(found);
                        patience = OPENS_WITHIN.dividedBy(Math.max(1, found.size()));
                        openNext(null);
                    }
                }));
    }

    /** Sends {@code exchange}, for which the pool has taken a stream. Returns at once. */
    void carry(Exchange exchange) {
        loop.execute(() -> {
            Wire open = wire;
            if (open == null) {
                pool.left(this);
                pool.submit(exchange, exchange.identity());
            } else if (exchange.isOver()) {
                pool.left(this);
            } else {
                exchanges.add(exchange);
                try {
                    exchange.send(this, open);
                } catch (RuntimeException | Error e) {
                    // of whatever kind: nobody else would end it before its time is over
                    exchange.fail(e);
                }
            }
        });
    }

    /** Takes the stream of {@code exchange} back. On the event loop. */
    void left(Exchange exchange) {
        exchanges.remove(exchange);
        pool.left(this);
    }

    /** Whether it carries more than one stream. On the event loop. */
    boolean isMultiplexed() {
        return pings != null;
    }

    /** Something arrived over it. On the event loop. */
    void heard() {
        if (pings != null) {
            pings.heard();
        }
    }

    /** Has it take no new streams. On the event loop. */
    void retire() {
        pool.retired(this);
    }

    /** Closes it; it carries nothing, or those whom it carries have been told. Returns at once. */
    void shut() {
        loop.execute(this::shutNow);
    }

    private void openNext(@Nullable Throwable before) {
        InetSocketAddress address = untried.poll();
        if (address == null) {
            failed(before == null ? new TimeoutException("no address") : before);
        } else if (!shut) {
            open(connector.target(identity, address, pool.offersHttp2(), timeout()));
        }
    }

    private void open(Target target) {
        Opening begun = new Opening(target);
        opening = begun;
        boolean plainHttp2 = target.multiplexed() && !target.secure();
        Duration within =
                plainHttp2 && patience.compareTo(PLAIN_HTTP2_OPENS_WITHIN) > 0 ? PLAIN_HTTP2_OPENS_WITHIN : patience;
        begun.timer = connector.timekeeper().schedule(within, () -> loop.execute(begun::late));
        try {
            begun.wire = network.open(target, loop, begun);
        } catch (RuntimeException | Error e) {
            // of whatever kind: the pool waits for this connection
            begun.closed(e);
        }
    }

    private Duration timeout() {
        Duration configured = identity.settings().connectTimeout();
        return configured.compareTo(patience) < 0 ? configured : patience;
    }

    private void opened(Wire opened, boolean multiplexed, int streams) {
        wire = opened;
        untried.clear();
        if (multiplexed) {
            pings = new PingMonitor(opened, loop, connector.timekeeper(), this::dead);
            pings.start();
        }
        log.debug("a connection to {} is open, for {} streams", connector, streams);
        pool.opened(this, streams);
    }

    private void failed(Throwable cause) {
        if (!shut) {
            shutNow();
            if (cause instanceof SSLException) {
                // the client's certificate may have been replaced, or its key before its certificate
                connector.credentials().renewed(identity);
            }
            pool.failed(this, cause);
        }
    }

    private void dead() {
        String why = "the connection to " + connector + " did not answer a ping for " + PingMonitor.PERIOD.toSeconds()
                + " s";
        log.warn("{}; closing it, and retrying its {} requests on another", why, exchanges.size());
        lost(why);
    }

    private void lost(String why) {
        // first, so that what is sent again goes elsewhere
        wire = null;
        pool.gone(this);
        for (Exchange exchange : List.copyOf(exchanges)) {
            exchange.lose(why);
        }
        shutNow();
    }

    private void shutNow() {
        shut = true;
        if (pings != null) {
            pings.stop();
        }
        Opening last = opening;
        wire = null;
        if (last != null) {
            opening = null;
            last.end();
        }
    }

    /** An attempt to open it at one address, and then what becomes of it. */
    private final class Opening implements Wire.Listener {

        private final Target target;
        private @Nullable Wire wire;
        private Timekeeper.@Nullable Scheduled timer;
        private boolean usable;

        Opening(Target target) {
            this.target = target;
        }

        @Override
        public void opened(boolean multiplexed, int streams) {
            stopTimer();
            usable = true;
            Connection.this.opened(Objects.requireNonNull(wire, "opened before open() returned"), multiplexed, streams);
        }

        @Override
        public void limited(int streams) {
            heard();
            pool.limited(Connection.this, streams);
        }

        @Override
        public void retired() {
            log.debug("{} asks for no more streams on a connection", connector);
            retire();
        }

        @Override
        public void closed(@Nullable Throwable cause) {
            if (!equals(opening)) {
                return;
            }
            stopTimer();
            if (usable) {
                lost("the connection to " + connector + " was closed");
            } else {
                opening = null;
                notOpened(cause == null ? new ClosedChannelException() : cause);
            }
        }

        void late() {
            if (equals(opening) && !usable) {
                opening = null;
                end();
                notOpened(new TimeoutException("the connection was not ready in time"));
            }
        }

        private void notOpened(Throwable cause) {
            if (shut) {
                return;
            }
            if (connector.retryWithHttp11(target, cause)) {
                open(new Target(target.server(), target.settings(), target.address(), false, target.timeout()));
            } else {
                openNext(cause);
            }
        }

        void end() {
            stopTimer();
            if (wire != null) {
                wire.close();
            }
        }

        private void stopTimer() {
            if (timer != null) {
                timer.cancel();
            }
        }
    }
}
