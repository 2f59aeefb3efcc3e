package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.credentials.Identity;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One request and its response, for every method and every pool. Thread-safe. */
final class Exchange implements WatchHandle {

    /*
     * The timeout starts when the exchange is created. The exchange gets an identity, waits in a pool for a stream, and
     * is sent as an Attempt, which runs on the event loop of its connection. It is sent again on another connection if
     * the server did not process it (GOAWAY, REFUSED_STREAM), and once more with other credentials after a 401.
     *
     * The answer, a failure, the timer, a cancellation and the end of the pool may come at the same time. The first that
     * sets `over` ends the exchange, and only this one calls the handler. An attempt writes `attempt` and then reads
     * `over`; an end on another thread writes `over` and then reads `attempt`. So at least one of them sees the other
     * and releases the stream; a second release has no effect.
     */

    /** The number of connections on which a request is tried before it fails. */
    private static final int MOST_CONNECTIONS = 6;

    private static final Timekeeper.Scheduled CANCELLED = () -> {};
    private static final AtomicIntegerFieldUpdater<Exchange> OVER =
            AtomicIntegerFieldUpdater.newUpdater(Exchange.class, "over");

    private final ServerRequest request;
    private final ResponseReader handler;
    private final ConnectionPool pool;
    private volatile int over; // 1 once ended
    private volatile Timekeeper.Scheduled timer;
    private volatile @Nullable Identity identity;
    private volatile @Nullable Attempt attempt;
    private volatile @Nullable Connection preferred;
    private byte attempts; // used by one attempt after another
    private boolean replacedIdentity; // used by one attempt after another

    /**
     * Creates an exchange for {@code pool}, which sends it later, and starts its timeout.
     *
     * @param timeout the time until the answer is complete, or until its headers arrive if the body {@linkplain
     *     ResponseReader#isEndless is endless}; includes the wait for credentials and for a connection
     */
    Exchange(ServerRequest request, Duration timeout, ResponseReader handler, ConnectionPool pool) {
        this.request = request;
        this.handler = handler;
        this.pool = pool;
        this.timer = connector().timekeeper().schedule(timeout, () -> timedOut(timeout));
    }

    boolean isOver() {
        return over != 0;
    }

    /** Prefers {@code connection} if it has a free stream. Must be called before sending. */
    void prefer(@Nullable Connection connection) {
        preferred = connection;
    }

    @Nullable
    Connection preferred() {
        return preferred;
    }

    /** Returns the connection that this exchange was last sent over, or null. */
    @Nullable
    Connection carrier() {
        Attempt now = attempt;
        return now == null ? null : now.connection;
    }

    /** Implements {@link WatchHandle#connection} for a watch. */
    @Override
    public String connection() {
        Connection carrier = isOver() ? null : carrier();
        return carrier == null ? "" : connector() + " #" + carrier.number;
    }

    void setIdentity(Identity newIdentity) {
        identity = newIdentity;
    }

    Identity identity() {
        return Objects.requireNonNull(identity, "no identity was set yet");
    }

    /** Sends this exchange over one stream of {@code connection}. Runs on its event loop. */
    void send(Connection connection, Wire wire) {
        Attempt started = new Attempt(connection);
        attempts++;
        connection.add(started);
        attempt = started;
        if (attempts == 1) {
            connector().observer().accept(request, 0);
        }
        started.stream = wire.send(request, identity().headers(), started);
        if (isOver()) {
            started.release();
        }
    }

    /** Ends this exchange with the failure that {@code cause} means. Runs on any thread. */
    void fail(Throwable cause) {
        endAnywhere(connector().unanswered(request.what(), cause));
    }

    /** Ends this exchange because its connection or its stream was lost. Runs on any thread. */
    void connectionLost(String why) {
        endAnywhere(ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, request.what(), why, null));
    }

    /** Ends this exchange because the pool is being closed. Runs on any thread. */
    void abort() {
        endAnywhere(ApiServerException.withoutAnswer(
                FailureReason.REJECTED,
                request.what(),
                "the connections to " + connector() + " have been closed; close them after everything that uses them",
                null));
    }

    /**
     * Ends this exchange; without a failure, the answer is complete. Runs on the event loop of its connection, if any.
     */
    void end(@Nullable ApiServerException failure) {
        if (finish()) {
            Attempt now = attempt;
            if (now != null) {
                now.release();
            }
            handler.ended(failure);
        }
    }

    /** Ends this exchange without a call to the handler. Runs on any thread. */
    @Override
    public void close() {
        if (finish()) {
            releaseOnItsLoop();
        }
    }

    /** Ends this exchange: on the event loop of its connection if a watch may be delivering events there, else here. */
    private void endAnywhere(@Nullable ApiServerException failure) {
        Attempt now = attempt;
        if (now != null && handler.isEndless()) {
            now.connection.execute(() -> {
                if (now.equals(attempt)) {
                    end(failure);
                } else {
                    endAnywhere(failure);
                }
            });
        } else if (finish()) {
            releaseOnItsLoop();
            handler.ended(failure);
        }
    }

    private void releaseOnItsLoop() {
        Attempt now = attempt;
        if (now != null) {
            now.connection.execute(now::release);
        }
    }

    private Connector connector() {
        return pool.connector();
    }

    private boolean finish() {
        if (!OVER.compareAndSet(this, 0, 1)) {
            return false;
        }
        timer.cancel();
        connector().observer().accept(request, -1);
        pool.ended(this);
        return true;
    }

    private void timedOut(Duration timeout) {
        String why = "no answer from " + connector() + " within " + Durations.text(timeout);
        endAnywhere(ApiServerException.withoutAnswer(FailureReason.TIMEOUT, request.what(), why, null));
    }

    /** One attempt to send the exchange, over one connection. Confined to the event loop of that connection. */
    final class Attempt implements Wire.Response {

        int place; // of the connection, which sets it; NOWHERE once released
        private final Connection connection;
        private Wire.@Nullable Stream stream;
        private @Nullable ErrorResponse refusal; // an answer other than 2xx

        Attempt(Connection connection) {
            this.connection = connection;
        }

        /** Ends the exchange because the connection was lost. */
        void lost(String why) {
            connectionLost(why);
        }

        @Override
        public void head(int code, Function<String, @Nullable String> headers) {
            connector().observer().accept(request, code);
            if (code / 100 != 2) {
                refusal = new ErrorResponse(code, headers.apply("Retry-After"));
                return;
            }
            if (handler.isEndless()) {
                timer.cancel();
                timer = CANCELLED;
            }
            if (!isOver()) {
                handler.accepted();
            }
        }

        @Override
        public void chunk(byte[] bytes) {
            connection.received();
            if (refusal != null) {
                refusal.add(bytes);
            } else if (!isOver()) {
                handler.chunk(Exchange.this, bytes);
            }
        }

        @Override
        public void end() {
            stream = null;
            if (refusal == null) {
                Exchange.this.end(handler.complete());
            } else {
                answeredWithError(refusal.toException(
                        request.what(), connector().timekeeper().wallTime()));
            }
        }

        @Override
        public void broken(Throwable cause, boolean unprocessed) {
            stream = null;
            if (unprocessed && attempts < MOST_CONNECTIONS) {
                pool.retired(connection);
                release();
                pool.submit(Exchange.this, identity());
            } else if (cause instanceof StreamResetException) {
                connectionLost(connector() + " " + cause.getMessage());
            } else {
                fail(cause);
            }
        }

        private void answeredWithError(ApiServerException error) {
            if (error.httpCode() != 401 || replacedIdentity) {
                Exchange.this.end(error);
                return;
            }
            replacedIdentity = true;
            Identity refused = identity();
            release();
            connector().credentials().replacementFor(refused).whenComplete((replacement, thrown) -> {
                if (replacement == null || replacement.isSame(refused)) {
                    endAnywhere(error);
                } else {
                    pool.submit(Exchange.this, replacement);
                }
            });
        }

        /** Releases the stream. Idempotent. */
        private void release() {
            if (place != Connection.NOWHERE) {
                if (stream != null && !connection.isMultiplexed()) {
                    // the reset below closes an HTTP/1.1 connection
                    pool.retired(connection);
                }
                // may come before the reset: the next exchange on this stream is sent later on this event loop
                connection.release(this);
                if (stream != null) {
                    stream.reset();
                    stream = null;
                }
            }
        }
    }

    @Override
    public String toString() {
        return request.what();
    }
}
