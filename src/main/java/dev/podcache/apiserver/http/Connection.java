package dev.podcache.apiserver.http;

import com.google.common.collect.Comparators;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ErrorAnswer;
import dev.podcache.apiserver.credentials.Identity;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.apiserver.http.ConnectionPool.ConnectionSlot;
import dev.podcache.apiserver.http.ServerEndpoint.Target;
import dev.podcache.time.Timekeeper;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection of a {@link ConnectionPool}, from the lookup of its addresses until it is closed: HTTP/2 with as many
 * streams as the server allows, or HTTP/1.1 with one. Methods without a word about it may be called by any thread.
 *
 * <p>An HTTP/2 connection is pinged every 10 s. Without pings, a frozen connection looks like an idle one until the
 * kernel gives it up after many minutes. Any data counts as a sign of life, because on a slow network the answer to a
 * ping waits behind other data.
 */
final class Connection {

    /*
     * All fields that are not final belong to the event loop of the pool, to which calls from other threads are posted.
     * The pool knows the rest in the slot: how many streams are in use, and whether there may be more.
     *
     *   lookup  --addresses--------------> opening   one Opening after another, by address and protocol
     *   opening --opened()---------------> open      `wire` is not null, and `opening` is its listener
     *   any     --failed(), lost(), shut()--> shut   for good
     *
     * Lookup, dial and TLS share one deadline, and each address gets its share of the time that is left. Until the pool
     * learns that the connection is lost, exchanges that it sends here are returned to it.
     */

    private static final Logger log = LoggerFactory.getLogger(Connection.class);

    /** The time from the beginning of the lookup until the connection can be used. */
    private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(20);

    /** The time for an attempt with HTTP/2 and without TLS, which a server of HTTP/1.1 may not answer. */
    private static final Duration PLAIN_HTTP2_TIMEOUT = Duration.ofSeconds(3);

    /** The time between two pings, within which something must arrive. */
    private static final Duration PING_PERIOD = Duration.ofSeconds(10);

    /** The place of an attempt that uses no stream. */
    private static final int NOWHERE = -1;

    private final ConnectionPool pool;
    private final ConnectionSlot slot;
    private final Identity identity;
    private final ServerEndpoint endpoint;
    private final NettyNetwork network;
    private final List<Attempt> attempts = new ArrayList<>(); // each knows its place
    private final Deque<InetSocketAddress> untried = new ArrayDeque<>();
    private long begun; // nanoseconds
    private @Nullable Opening opening;
    private @Nullable Wire wire;
    private Timekeeper.@Nullable Scheduled timer; // of the lookup, of the current opening, or of the next ping
    private int timers; // counts the timers, so that one that fires too late is known
    private boolean multiplexed;
    private int streams; // how many the server allows
    private boolean received; // whether anything arrived since the last ping; over HTTP/1.1, since the opening
    private boolean answered; // whether anything was answered
    private boolean sent; // whether a request was sent
    private boolean ended; // by the server, which the pool knows
    private boolean shut;

    /** Creates a connection without opening it. */
    Connection(
            ConnectionPool pool,
            ConnectionSlot slot,
            Identity identity,
            ServerEndpoint endpoint,
            NettyNetwork network) {
        this.pool = pool;
        this.slot = slot;
        this.identity = identity;
        this.endpoint = endpoint;
        this.network = network;
    }

    /** Opens this connection. Returns at once. */
    void open() {
        network.execute(this::lookUp);
    }

    /** Sends {@code exchange}, for which the pool has reserved a stream. Returns at once. */
    void send(Exchange exchange, Identity with, Map<String, List<String>> headers) {
        network.execute(() -> {
            Wire open = wire;
            if (open == null || exchange.isOver()) {
                pool.released(slot);
                pool.submit(exchange, with);
            } else {
                new Attempt(exchange, with).send(open, headers);
            }
        });
    }

    /** Closes this connection, whose exchanges must have ended. Returns at once. */
    void shut() {
        network.execute(this::shutNow);
    }

    private void lookUp() {
        if (shut) {
            return;
        }
        begun = endpoint.timekeeper().nanoTime();
        startTimer(OPEN_TIMEOUT, () -> failed(notReady()));
        endpoint.addresses(identity).whenComplete((found, thrown) -> network.execute(() -> looked(found, thrown)));
    }

    private void looked(@Nullable List<InetSocketAddress> found, @Nullable Throwable thrown) {
        if (found == null) {
            failed(ApiServerException.causeOf(thrown));
        } else {
            untried.addAll(found);
            openNext(new TimeoutException("the host name has no address"));
        }
    }

    private void openNext(Throwable failure) {
        if (shut) {
            return;
        }
        // a share of the time for each address that is left
        Duration share = timeLeft().dividedBy(Math.max(1, untried.size()));
        InetSocketAddress address = untried.poll();
        if (address == null || share.isZero()) {
            failed(failure);
            return;
        }
        Duration timeout = Comparators.min(identity.settings().connectTimeout(), share);
        open(endpoint.target(identity, address, pool.offersHttp2(), timeout), share);
    }

    private void open(Target target, Duration within) {
        Opening attempt = new Opening(target, within);
        opening = attempt;
        boolean plainHttp2 = target.multiplexed() && !target.secure();
        startTimer(plainHttp2 ? Comparators.min(within, PLAIN_HTTP2_TIMEOUT) : within, attempt::timedOut);
        try {
            attempt.wire = network.open(target, attempt);
        } catch (RuntimeException | Error e) {
            // catches everything, because the pool waits for this connection
            attempt.closed(e);
        }
    }

    private Duration timeLeft() {
        Duration passed = Duration.ofNanos(endpoint.timekeeper().nanoTime() - begun);
        return passed.compareTo(OPEN_TIMEOUT) < 0 ? OPEN_TIMEOUT.minus(passed) : Duration.ZERO;
    }

    private static TimeoutException notReady() {
        return new TimeoutException("the connection was not ready in time");
    }

    private void opened(Wire opened, boolean http2, int limit) {
        stopTimer();
        wire = opened;
        untried.clear();
        multiplexed = http2;
        streams = limit;
        if (http2) {
            received = true;
            startTimer(PING_PERIOD, this::ping);
        }
        pool.opened(slot, limit);
    }

    private void failed(Throwable cause) {
        if (!shut) {
            shutNow();
            try {
                if (cause instanceof SSLException) {
                    // the client's key or certificate may have been replaced, one shortly after the other
                    endpoint.credentials().replacementFor(identity);
                }
            } finally {
                // the pool waits for this connection
                pool.failed(slot, cause);
            }
        }
    }

    private void ping() {
        Wire open = wire;
        if (open == null) {
            return;
        }
        if (!received) {
            String why =
                    "the connection to " + endpoint + " did not answer a ping for " + PING_PERIOD.toSeconds() + " s";
            log.warn("{}; closing it, which fails its {} requests and watches", why, attempts.size());
            lost(why);
            return;
        }
        received = false;
        try {
            open.ping(() -> received = true);
        } finally {
            // also if the ping could not be sent: then nothing arrives, and the connection is dead
            startTimer(PING_PERIOD, this::ping);
        }
    }

    /** Records that something arrived over this connection. */
    private void received() {
        if (!multiplexed && !received && pool.offersHttp2()) {
            endpoint.answeredWithHttp11(identity);
        }
        received = true;
    }

    /** Tells the pool once whether the server ended this connection before it was of use. */
    private void endedByServer() {
        boolean young = endpoint.timekeeper().nanoTime() - begun < OPEN_TIMEOUT.toNanos();
        // a spare connection that the server closes after its idle time was of no use, and did no harm
        if (!ended && !answered && (sent || young)) {
            pool.endedUnused(begun);
        }
        ended = true;
    }

    private void lost(String why) {
        // before the exchanges fail, so that a retry goes to another connection
        wire = null;
        pool.connectionClosed(slot);
        try {
            List.copyOf(attempts).forEach(attempt -> attempt.exchange.connectionLost(why));
        } finally {
            shutNow();
        }
    }

    private void shutNow() {
        shut = true;
        stopTimer();
        Opening last = opening;
        wire = null;
        if (last != null) {
            opening = null;
            if (!last.usable) {
                endpoint.tried(last.target.address(), false);
            }
            last.close();
        }
    }

    /** Runs {@code task} on the event loop after {@code delay}, unless this timer is stopped or another started before. */
    private void startTimer(Duration delay, Runnable task) {
        stopTimer();
        int number = timers;
        timer = endpoint.timekeeper()
                .schedule(
                        delay,
                        () -> network.execute(() -> {
                            if (number == timers) {
                                task.run();
                            }
                        }));
    }

    private void stopTimer() {
        timers++;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    /** One attempt to open the connection at one address; after a success, the listener of the open connection. */
    private final class Opening implements Wire.Listener {

        private final Target target;
        private final Duration within;
        private @Nullable Wire wire;
        private boolean usable;

        Opening(Target target, Duration within) {
            this.target = target;
            this.within = within;
        }

        @Override
        public void opened(boolean http2, int limit) {
            usable = true;
            endpoint.tried(target.address(), true);
            Connection.this.opened(Objects.requireNonNull(wire, "opened before open() returned"), http2, limit);
        }

        @Override
        public void limited(int limit) {
            received();
            streams = limit;
            pool.limited(slot, limit);
        }

        @Override
        public void retired() {
            log.debug("{} retired a connection (GOAWAY); new requests use another", endpoint);
            endedByServer();
            pool.retired(slot);
        }

        @Override
        public void closed(@Nullable Throwable cause) {
            if (!equals(opening)) {
                return;
            }
            if (usable) {
                endedByServer();
                lost("the connection to " + endpoint + " was closed");
            } else {
                opening = null;
                notOpened(cause == null ? new ClosedChannelException() : cause);
            }
        }

        void timedOut() {
            opening = null;
            close();
            notOpened(notReady());
        }

        private void notOpened(Throwable cause) {
            endpoint.tried(target.address(), false);
            Duration left = Comparators.min(within, timeLeft());
            if (target.mayTryHttp11(cause) && !left.isZero()) {
                open(target.withHttp11(), left);
            } else {
                openNext(cause);
            }
        }

        void close() {
            if (wire != null) {
                wire.close();
            }
        }
    }

    /** One attempt to send an exchange, on one stream of this connection. Belongs to the event loop. */
    final class Attempt implements Wire.Response {

        private final Exchange exchange;
        private final Identity with;
        private int place = NOWHERE; // in the list of attempts
        private boolean broken;
        private Wire.@Nullable Stream stream; // null unless open
        private @Nullable ErrorAnswer refusal; // an answer that the exchange does not accept

        private Attempt(Exchange exchange, Identity with) {
            this.exchange = exchange;
            this.with = with;
        }

        ConnectionSlot slot() {
            return slot;
        }

        /** Returns the facts of this connection, which is open. */
        ConnectionFacts facts(ConnectionFacts.VersionAnswer answer) {
            Target target = Objects.requireNonNull(opening, "not open").target;
            return new ConnectionFacts(
                    target.address(),
                    Optional.ofNullable(target.settings().proxy()).map(ProxyAddress::toString),
                    multiplexed,
                    target.multiplexed(),
                    streams,
                    answer);
        }

        private void send(Wire open, Map<String, List<String>> headers) {
            place = attempts.size();
            attempts.add(this);
            try {
                if (exchange.begin(this)) {
                    sent = true;
                    stream = open.send(exchange.request(), headers, this);
                    // the wire may have refused it already
                    if (!broken) {
                        exchange.sent();
                    }
                }
            } catch (RuntimeException | Error e) {
                // catches everything, because otherwise the exchange would wait for its timeout
                exchange.fail(e);
            }
            // the wire may have broken the attempt, or its reader ended the exchange, within send()
            if (place == NOWHERE || exchange.isOver()) {
                release();
            }
        }

        @Override
        public void head(int status, Function<String, @Nullable String> headers) {
            received();
            if (!answered) {
                answered = true;
                pool.answered();
            }
            if (!exchange.answered(status, headers)) {
                refusal = new ErrorAnswer(status, headers.apply("Retry-After"));
            }
        }

        @Override
        public boolean chunk(byte[] bytes) {
            received();
            if (refusal == null) {
                return exchange.chunk(bytes);
            }
            refusal.add(bytes);
            return true;
        }

        @Override
        public boolean isLarge() {
            return exchange.isLarge();
        }

        /** Lets the server send more. */
        void goOn() {
            Wire.Stream open = stream;
            if (open != null) {
                open.goOn();
            }
        }

        @Override
        public void end() {
            stream = null;
            if (refusal == null) {
                exchange.complete();
                return;
            }
            ApiServerException error = refusal.toException(
                    exchange.request().what(), endpoint.timekeeper().wallTime());
            if (error.httpCode() == 401 && exchange.mayReplaceIdentity()) {
                release();
                sendWithOtherCredentials(error);
            } else {
                exchange.end(error);
            }
        }

        private void sendWithOtherCredentials(ApiServerException error) {
            endpoint.credentials().replacementFor(with).whenComplete((replacement, thrown) -> {
                if (replacement == null || replacement.isSame(with)) {
                    exchange.fail(error);
                } else {
                    pool.submit(exchange, replacement);
                }
            });
        }

        @Override
        public void broken(Throwable cause, boolean unprocessed) {
            broken = true;
            stream = null;
            if (unprocessed && exchange.maySendAgain()) {
                sendAgain(cause instanceof Wire.ResetException);
            } else if (cause instanceof Wire.ResetException) {
                exchange.connectionLost(endpoint + " " + cause.getMessage());
            } else {
                exchange.fail(cause);
            }
        }

        /** A refused stream says nothing of the others. Without a word of the server, the connection can take no request. */
        private void sendAgain(boolean refused) {
            if (!refused) {
                pool.retired(slot);
            }
            release();
            Duration pause = refused ? exchange.pause() : Duration.ZERO;
            if (pause.isZero()) {
                pool.submit(exchange, with);
            } else {
                endpoint.timekeeper().schedule(pause, () -> pool.submit(exchange, with));
            }
        }

        /** Releases the stream. Idempotent. */
        void release() {
            Wire.Stream open = stream;
            stream = null;
            if (place != NOWHERE) {
                if (open != null && !multiplexed) {
                    // the reset below closes an HTTP/1.1 connection
                    pool.retired(slot);
                }
                Attempt last = attempts.get(attempts.size() - 1);
                attempts.set(place, last);
                last.place = place;
                attempts.remove(attempts.size() - 1);
                place = NOWHERE;
                // may come before the reset: the next exchange on this stream is sent later on this event loop
                pool.released(slot);
            }
            if (open != null) {
                open.reset();
            }
        }
    }
}
