package dev.podcache.apiserver.http;

import com.google.common.collect.Comparators;
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
     * The pool's lock guards stage, limit and taken. All other fields belong to one event loop; calls from other threads
     * are posted there. The pool may learn late of a loss: an exchange that arrives after the loss is handed back.
     * The addresses of the server are tried one after another, each with its share of the time.
     */

    /** What the pool knows of a connection. */
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
    private boolean answered;
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

    boolean isUnusedLocked() {
        return stage == Stage.OPEN && taken == 0;
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
            if (open == null || exchange.isOver()) {
                pool.left(this);
                pool.submit(exchange, exchange.identity());
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
        } else if (!answered) {
            answered = true;
            pool.answeredWithHttp11(identity);
        }
    }

    /** Closes it. The exchanges that it carried, if any, have been ended. Returns at once. */
    void shut() {
        loop.execute(this::shutNow);
    }

    private void openNext(@Nullable Throwable before) {
        InetSocketAddress address = untried.poll();
        if (address == null) {
            failed(before == null ? new TimeoutException("no address") : before);
        } else if (!shut) {
            Duration timeout = Comparators.min(identity.settings().connectTimeout(), patience);
            open(connector.target(identity, address, pool.offersHttp2(), timeout));
        }
    }

    private void open(Target target) {
        boolean plainHttp2 = target.multiplexed() && !target.secure();
        Duration within = plainHttp2 ? Comparators.min(patience, PLAIN_HTTP2_OPENS_WITHIN) : patience;
        Opening begun = new Opening(target, within);
        opening = begun;
        try {
            begun.wire = network.open(target, loop, begun);
        } catch (RuntimeException | Error e) {
            // of whatever kind: the pool waits for this connection
            begun.closed(e);
        }
    }

    private void opened(Wire opened, boolean multiplexed, int streams) {
        wire = opened;
        untried.clear();
        if (multiplexed) {
            pings = new PingMonitor(opened, loop, connector.timekeeper(), this::dead);
            pings.start();
        }
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
        log.warn("{}; closing it, which fails its {} requests and watches", why, exchanges.size());
        lost(why);
    }

    private void lost(String why) {
        // first, so that what is sent again goes elsewhere
        wire = null;
        pool.gone(this);
        List.copyOf(exchanges).forEach(exchange -> exchange.lose(why));
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
        private final Timekeeper.Scheduled timer;
        private @Nullable Wire wire;
        private boolean usable;

        Opening(Target target, Duration within) {
            this.target = target;
            this.timer = connector.timekeeper().schedule(within, () -> loop.execute(this::late));
        }

        @Override
        public void opened(boolean multiplexed, int streams) {
            timer.cancel();
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
            pool.retired(Connection.this);
        }

        @Override
        public void closed(@Nullable Throwable cause) {
            if (!equals(opening)) {
                return;
            }
            timer.cancel();
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
            if (connector.mayTryHttp11(target, cause)) {
                open(new Target(target.server(), target.settings(), target.address(), false, target.timeout()));
            } else {
                openNext(cause);
            }
        }

        void end() {
            timer.cancel();
            if (wire != null) {
                wire.close();
            }
        }
    }
}
