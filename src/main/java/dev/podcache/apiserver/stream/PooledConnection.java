package dev.podcache.apiserver.stream;

import dev.podcache.time.Timekeeper;
import io.vertx.core.Context;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP/2 connection, from the first attempt to its end. It has a Vert.x client of its own that may hold one
 * connection, so that we and not Vert.x decide when there is another.
 */
final class PooledConnection implements Pulse.Told {

    /*
     * Everything but `seats` and `phase` belongs to one event loop; what others want of it is posted there. The pool's
     * picture may lag behind: an exchange that arrives after the connection was lost is handed back to the pool.
     *
     * The connection is made by the first request that wants it, because Vert.x knows no other
     * way; that request is the driver.
     */

    /** What the pool knows of it. */
    enum Phase {
        MAKING,
        OPEN,
        /** The server asked for no more streams (GOAWAY). */
        RETIRED,
        GONE
    }

    private static final Logger log = LoggerFactory.getLogger(PooledConnection.class);
    private static final Duration SETTLES_WITHIN = Duration.ofSeconds(20);
    private static final Duration PLAIN_SETTLES_WITHIN = Duration.ofSeconds(3);

    /** Where a server allows more streams, or does not say: so many watches at most are lost with one connection. */
    private static final int MOST_STREAMS = 1000;

    final Seats seats = new Seats(); // guarded by the pool
    Phase phase = Phase.MAKING; // guarded by the pool

    private final ConnectionPool pool;
    private final Endpoint endpoint;
    private final EventLoops loops;
    private final Context loop;

    private final Set<Exchange> riders = new HashSet<>();
    private @Nullable HttpClient client;
    private @Nullable SocketAddress address;
    private @Nullable Pulse pulse;
    private Timekeeper.@Nullable Scheduled settling;
    private int lastStream = Integer.MAX_VALUE; // that the server handles
    private boolean usable;
    private boolean shut;

    PooledConnection(ConnectionPool pool, Endpoint endpoint, EventLoops loops) {
        this.pool = pool;
        this.endpoint = endpoint;
        this.loops = loops;
        this.loop = loops.next();
    }

    /** Makes the connection for {@code driver}, which has {@code seat}. Returns at once. */
    void connect(Exchange driver, Seat seat) {
        // certificates are read, and a name is looked up
        endpoint.timekeeper().blocking().execute(() -> {
            try {
                Endpoint.Dial dial = endpoint.dial(ConnectionSettings::multiplexed);
                if (dial.address() == null && !endpoint.secure()) {
                    // a proxy that forwards single requests
                    pool.notMultiplexed(this, driver);
                    return;
                }
                HttpClient made = loops.client(
                        dial.options(),
                        new PoolOptions().setHttp1MaxSize(1).setHttp2MaxSize(1).setCleanerPeriod(0));
                EventLoops.post(loop, () -> drive(made, dial.address(), driver, seat));
            } catch (UnknownHostException | RuntimeException e) {
                pool.failed(this, driver, e);
            }
        });
    }

    /** Carries {@code exchange} in {@code seat}. Returns at once. */
    void carry(Exchange exchange, Seat seat) {
        EventLoops.post(loop, () -> {
            HttpClient open = client;
            if (!usable || open == null) {
                pool.left(seat);
                pool.submit(exchange, null);
            } else if (exchange.isOver()) {
                pool.left(seat);
            } else {
                open.request(addressed(exchange)).onComplete(asked -> {
                    if (asked.failed()) {
                        pool.left(seat);
                        notBegun(exchange, asked.cause());
                    } else {
                        board(exchange, asked.result(), seat);
                    }
                });
            }
        });
    }

    /** Takes {@code seat} back from {@code exchange}. On the event loop. */
    void leave(Exchange exchange, Seat seat) {
        riders.remove(exchange);
        pool.left(seat);
    }

    /** Takes {@code seat} from {@code exchange}, for who comes with it next. On the event loop. */
    void keep(Exchange exchange, Seat seat) {
        riders.remove(exchange);
        pool.keep(seat);
    }

    /** Whether the server has said that it did not handle {@code request} and will not. On the event loop. */
    boolean ignores(HttpClientRequest request) {
        int stream = request.streamId();
        // without a number the stream was never begun, because the server had asked for no more
        return stream > lastStream || (stream <= 0 && lastStream < Integer.MAX_VALUE);
    }

    /** Takes {@code seat} from {@code exchange} and has it sent over another connection. On the event loop. */
    void passOn(Exchange exchange, Seat seat) {
        leave(exchange, seat);
        pool.submit(exchange, null);
    }

    /** Closes it; nobody rides on it, or nobody is to be told. Returns at once. */
    void shut() {
        EventLoops.post(loop, this::shutNow);
    }

    private void drive(HttpClient made, @Nullable SocketAddress where, Exchange driver, Seat seat) {
        client = made;
        address = where;
        if (shut) {
            made.close();
            return;
        }
        Duration patience = endpoint.secure() ? SETTLES_WITHIN : PLAIN_SETTLES_WITHIN;
        settling = endpoint.timekeeper().schedule(patience, () -> EventLoops.post(loop, () -> unsettled(driver)));
        made.request(addressed(driver)).onComplete(asked -> {
            stopSettling();
            if (asked.succeeded() && (shut || asked.result().version() != HttpVersion.HTTP_2)) {
                // never sent; Vert.x would complain that nobody hears how it ends
                asked.result().exceptionHandler(closed -> {});
            }
            if (shut) {
                return;
            }
            if (asked.failed()) {
                failed(driver, asked.cause());
            } else if (asked.result().version() == HttpVersion.HTTP_2) {
                opened(asked.result(), driver, seat);
            } else {
                shutNow();
                pool.notMultiplexed(this, driver);
            }
        });
    }

    private void notBegun(Exchange exchange, Throwable cause) {
        if (usable || !exchange.mayGoElsewhere()) {
            exchange.fail(cause);
        } else {
            pool.submit(exchange, null);
        }
    }

    private void unsettled(Exchange driver) {
        if (!shut && !usable) {
            failed(driver, new TimeoutException("the connection was not ready in time"));
        }
    }

    private void failed(Exchange driver, Throwable cause) {
        shutNow();
        boolean unreachable = cause instanceof ConnectException || cause instanceof UnknownHostException;
        if (endpoint.secure() || unreachable) {
            pool.failed(this, driver, cause);
        } else {
            // it was reached, but does not understand HTTP/2 without having agreed on it
            pool.notMultiplexed(this, driver);
        }
    }

    private void opened(HttpClientRequest first, Exchange driver, Seat seat) {
        HttpConnection wire = first.connection();
        usable = true;
        wire.remoteSettingsHandler(settings -> pool.limited(this, limitOf(settings)));
        wire.goAwayHandler(goAway -> {
            lastStream = goAway.getLastStreamId();
            log.debug("{} asks for no more streams on a connection", endpoint);
            usable = false;
            pool.retired(this);
        });
        // each stream is told of it too
        wire.exceptionHandler(broken -> log.debug("a connection to {} broke", endpoint, broken));
        wire.closeHandler(closed -> lost("the connection to " + endpoint + " was closed"));
        pulse = new Pulse(wire, loop, endpoint.timekeeper(), this);
        pulse.start();
        int limit = limitOf(wire.remoteSettings());
        log.debug("a connection to {} is open, for {} streams", endpoint, limit);
        // before others are seated: if it is not wanted any more, its seat is free for them
        board(driver, first, seat);
        pool.opened(this, limit);
    }

    private void board(Exchange exchange, HttpClientRequest request, Seat seat) {
        riders.add(exchange);
        exchange.send(request, loop, seat);
    }

    @Override
    public void tick() {
        pool.tick(this);
    }

    @Override
    public void dead() {
        String why = "the connection to " + endpoint + " did not answer a ping for " + Pulse.PERIOD.toSeconds() + " s";
        log.warn("{}; it is closed, and its {} watches are opened again on another", why, riders.size());
        lost(why);
    }

    private void lost(String why) {
        // first, so that what is opened again goes elsewhere
        usable = false;
        pool.gone(this);
        for (Exchange rider : List.copyOf(riders)) {
            rider.lose(why);
        }
        shutNow();
    }

    private void shutNow() {
        usable = false;
        shut = true;
        stopSettling();
        if (pulse != null) {
            pulse.stop();
        }
        if (client != null) {
            client.close();
            client = null;
        }
    }

    private void stopSettling() {
        if (settling != null) {
            settling.cancel();
        }
    }

    private RequestOptions addressed(Exchange exchange) {
        RequestOptions options = exchange.options();
        return address == null ? options : options.setServer(address);
    }

    private static int limitOf(Http2Settings settings) {
        return (int) Math.min(MOST_STREAMS, settings.getMaxConcurrentStreams());
    }
}
