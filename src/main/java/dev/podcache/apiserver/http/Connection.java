package dev.podcache.apiserver.http;

import com.google.common.collect.Comparators;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.credentials.Identity;
import dev.podcache.time.Timekeeper;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of a {@link ConnectionPool}, from the first attempt to open it until it is closed: HTTP/2 with as many
 * streams as the server allows, or HTTP/1.1 with one.
 */
final class Connection {

    /*
     * The pool's lock guards stage, limit and taken. All other fields belong to one event loop, to which calls from
     * other threads are posted. Until the pool learns that the connection is lost, exchanges that it sends here are
     * returned to it. The addresses of the server are tried one after another, each for its share of the time.
     */

    private static final Logger log = LoggerFactory.getLogger(Connection.class);
    /** The place of an attempt that uses no stream. */
    static final int NOWHERE = -1;

    private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(20);
    private static final Duration PLAIN_HTTP2_TIMEOUT = Duration.ofSeconds(3);

    ConnectionStage stage = ConnectionStage.OPENING; // guarded by the pool, like the next two
    int limit; // the number of streams that the server allows; may become less than taken
    int taken; // the number of streams in use
    int number; // from 1, of those of the pool; set before the connection is used

    private final ConnectionPool pool;
    private final Connector connector;
    private final Identity identity;
    private final VertxNetwork network;
    private final List<Exchange.Attempt> attempts = new ArrayList<>(); // each knows its place
    private final Deque<InetSocketAddress> untried = new ArrayDeque<>();
    private Duration addressTimeout = OPEN_TIMEOUT;
    private @Nullable Opening opening;
    private @Nullable Wire wire; // null unless open
    private @Nullable PingMonitor pings;
    private boolean answered;
    private boolean shut;

    Connection(ConnectionPool pool, Connector connector, Identity identity, VertxNetwork network) {
        this.pool = pool;
        this.connector = connector;
        this.identity = identity;
        this.network = network;
    }

    Identity identity() {
        return identity;
    }

    int freeLocked() {
        return stage == ConnectionStage.OPEN ? Math.max(0, limit - taken) : 0;
    }

    boolean isUnusedLocked() {
        return stage == ConnectionStage.OPEN && taken == 0;
    }

    /** Runs {@code task} on the event loop of this connection. */
    void execute(Runnable task) {
        network.execute(task);
    }

    /** Opens this connection. Returns at once. */
    void open() {
        connector
                .addresses(identity)
                .whenComplete((found, thrown) -> network.execute(() -> {
                    if (found == null) {
                        failed(ApiServerException.causeOf(thrown));
                    } else {
                        untried.addAll(found);
                        addressTimeout = OPEN_TIMEOUT.dividedBy(Math.max(1, found.size()));
                        openNext(null);
                    }
                }));
    }

    /** Sends {@code exchange}, for which the pool has reserved a stream. Returns at once. */
    void send(Exchange exchange) {
        network.execute(() -> {
            Wire open = wire;
            if (open == null || exchange.isOver()) {
                pool.released(this);
                pool.submit(exchange, exchange.identity());
            } else {
                try {
                    exchange.send(this, open);
                } catch (RuntimeException | Error e) {
                    // catches everything, because otherwise the exchange would wait for its timeout
                    exchange.fail(e);
                }
            }
        });
    }

    /** Records an attempt that uses a stream. Runs on the event loop. */
    void add(Exchange.Attempt attempt) {
        attempt.place = attempts.size();
        attempts.add(attempt);
    }

    /** Releases the stream of an attempt. Runs on the event loop. */
    void release(Exchange.Attempt attempt) {
        Exchange.Attempt last = attempts.get(attempts.size() - 1);
        attempts.set(attempt.place, last);
        last.place = attempt.place;
        attempts.remove(attempts.size() - 1);
        attempt.place = NOWHERE;
        pool.released(this);
    }

    /** Returns whether this connection can have more than one stream. Runs on the event loop. */
    boolean isMultiplexed() {
        return pings != null;
    }

    /** Reports that something arrived over this connection. Runs on the event loop. */
    void received() {
        if (pings != null) {
            pings.received();
        } else if (!answered) {
            answered = true;
            if (pool.offersHttp2()) {
                connector.answeredWithHttp11(identity);
            }
        }
    }

    /** Closes this connection, whose exchanges must have ended. Returns at once. */
    void shut() {
        network.execute(this::shutNow);
    }

    private void openNext(@Nullable Throwable failure) {
        InetSocketAddress address = untried.poll();
        if (address == null) {
            failed(failure == null ? new TimeoutException("the host name has no address") : failure);
        } else if (!shut) {
            Duration timeout = Comparators.min(identity.settings().connectTimeout(), addressTimeout);
            open(connector.target(identity, address, pool.offersHttp2(), timeout));
        }
    }

    private void open(Target target) {
        boolean plainHttp2 = target.multiplexed() && !target.secure();
        Duration within = plainHttp2 ? Comparators.min(addressTimeout, PLAIN_HTTP2_TIMEOUT) : addressTimeout;
        Opening attempt = new Opening(target, within);
        opening = attempt;
        try {
            attempt.wire = network.open(target, attempt);
        } catch (RuntimeException | Error e) {
            // catches everything, because the pool waits for this connection
            attempt.closed(e);
        }
    }

    private void opened(Wire opened, boolean multiplexed, int streams) {
        wire = opened;
        untried.clear();
        if (multiplexed) {
            pings = new PingMonitor(opened, network, connector.timekeeper(), this::pingTimedOut);
            pings.start();
        }
        pool.opened(this, streams);
    }

    private void failed(Throwable cause) {
        if (!shut) {
            shutNow();
            if (cause instanceof SSLException) {
                // the client's key or certificate may have been replaced, one shortly after the other
                connector.credentials().replacementFor(identity);
            }
            pool.failed(this, cause);
        }
    }

    private void pingTimedOut() {
        String why = "the connection to " + connector + " did not answer a ping for " + PingMonitor.PERIOD.toSeconds()
                + " s";
        log.warn("{}; closing it, which fails its {} requests and watches", why, attempts.size());
        lost(why);
    }

    private void lost(String why) {
        // before the exchanges fail, so that a retry goes to another connection
        wire = null;
        pool.connectionClosed(this);
        List.copyOf(attempts).forEach(attempt -> attempt.lost(why));
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

    /** One attempt to open the connection at one address; after a success, the listener of the open connection. */
    private final class Opening implements Wire.Listener {

        private final Target target;
        private final Timekeeper.Scheduled timer;
        private @Nullable Wire wire;
        private boolean usable;

        Opening(Target target, Duration within) {
            this.target = target;
            this.timer = connector.timekeeper().schedule(within, () -> network.execute(this::timedOut));
        }

        @Override
        public void opened(boolean multiplexed, int streams) {
            timer.cancel();
            usable = true;
            Connection.this.opened(Objects.requireNonNull(wire, "opened before open() returned"), multiplexed, streams);
        }

        @Override
        public void limited(int streams) {
            received();
            pool.limited(Connection.this, streams);
        }

        @Override
        public void retired() {
            log.debug("{} retired a connection (GOAWAY); new requests use another", connector);
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

        void timedOut() {
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
