package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ErrorAnswer;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One request and what becomes of it, whatever it asks and whichever pool carries it. Thread-safe. */
final class Exchange {

    /*
     * Its time begins when it is made. It gets an identity, waits in a pool for a stream, and is sent: an Attempt, which
     * lives on the event loop of its connection. It is sent again, over another connection, if the server did not begin
     * to handle it (GOAWAY, REFUSED_STREAM) and once if the server did not know us (401) and other credentials are found.
     *
     * The answer, a failure, the timer, a cancelling and the closing of the pool may all end it at once. The first that
     * sets `over` ends it, and only that one calls the handler. An attempt writes `attempt` and then reads `over`; an end
     * elsewhere writes `over` and then reads `attempt`. So at least one of them sees the other and gives the stream back.
     * Both may, so an attempt gives it back once.
     */

    /** The connections on which a request is tried before it fails. */
    private static final int MOST_CONNECTIONS = 6;

    private static final int LONGEST_ERROR = 64 * 1024;

    private final ServerRequest request;
    private final Duration timeout;
    private final ResponseReader handler;
    private final Connector connector;
    private final AtomicBoolean over = new AtomicBoolean();
    private final Timekeeper.Scheduled timer;
    private volatile Runnable whenOver = () -> {};
    private volatile @Nullable Identity identity;
    private volatile @Nullable Attempt attempt;
    private volatile @Nullable Connection preferred;
    private int attempts; // touched by one attempt after the other
    private boolean renewed; // touched by one attempt after the other

    /**
     * A request whose time begins now.
     *
     * @param timeout until the answer is complete, or until its head is there if the handler {@linkplain
     *     ResponseReader#isEndless is endless}; waiting for credentials and for a connection counts
     */
    Exchange(ServerRequest request, Duration timeout, ResponseReader handler, Connector connector) {
        this.request = request;
        this.timeout = timeout;
        this.handler = handler;
        this.connector = connector;
        this.timer = connector.timekeeper().schedule(timeout, this::endLate);
    }

    boolean isOver() {
        return over.get();
    }

    /** Has {@code action} run once when this is over, however. To be called before it is sent. */
    void whenOver(Runnable action) {
        whenOver = action;
    }

    /** Has it sent over {@code connection} if that has a stream free. To be called before it is sent. */
    void prefer(@Nullable Connection connection) {
        preferred = connection;
    }

    @Nullable
    Connection preferred() {
        return preferred;
    }

    /** Returns the connection that carries it, or null. */
    @Nullable
    Connection connection() {
        Attempt now = attempt;
        return now == null ? null : now.connection;
    }

    void identify(Identity as) {
        identity = as;
    }

    Identity identity() {
        return Objects.requireNonNull(identity, "not identified yet");
    }

    /** Sends it. On the event loop of {@code connection}, of which it takes one stream. */
    void send(Connection connection, Wire wire) {
        Attempt begun = new Attempt(connection);
        attempts++;
        attempt = begun;
        if (attempts == 1) {
            connector.observer().accept(request, 0);
        }
        begun.stream = wire.send(request, identity().headers(), begun);
        if (over.get()) {
            begun.release();
        }
    }

    /** Ends it without an answer. On any thread. */
    void fail(Throwable cause) {
        endAnywhere(connector.unanswered(request.what(), cause));
    }

    /** Ends it because its connection is of no use any more. On any thread. */
    void lose(String why) {
        endAnywhere(ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, request.what(), why, null));
    }

    /** Ends it because everything is being closed. On any thread. */
    void abort() {
        endAnywhere(ApiServerException.withoutAnswer(
                FailureReason.REJECTED,
                request.what(),
                "the connections to " + connector + " have been closed: close them after what uses them",
                null));
    }

    /** Ends it, with a cause unless all came that was to come. On the event loop of its connection, if it has one. */
    void end(@Nullable ApiServerException failure) {
        if (finish()) {
            Attempt now = attempt;
            if (now != null) {
                now.release();
            }
            handler.ended(failure);
        }
    }

    /** Ends it without a word to the handler. On any thread. */
    void cancel() {
        if (finish()) {
            releaseElsewhere();
        }
    }

    /** Ends it: on the event loop of its connection if a watch may be telling events there, else here. */
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
            releaseElsewhere();
            handler.ended(failure);
        }
    }

    private void releaseElsewhere() {
        Attempt now = attempt;
        if (now != null) {
            now.connection.execute(now::release);
        }
    }

    private boolean finish() {
        if (!over.compareAndSet(false, true)) {
            return false;
        }
        timer.cancel();
        connector.observer().accept(request, -1);
        whenOver.run();
        return true;
    }

    private void endLate() {
        endAnywhere(ApiServerException.withoutAnswer(
                FailureReason.TIMEOUT, request.what(), "no answer from " + connector + " within " + timeout, null));
    }

    /** It, sent over one connection. Confined to the event loop of that. */
    private final class Attempt implements Wire.Response {

        private final Connection connection;
        private Wire.@Nullable Stream stream;
        private @Nullable ByteArrayOutputStream error; // the body of an answer other than 2xx
        private int status;
        private @Nullable String retryAfter;
        private boolean released;

        Attempt(Connection connection) {
            this.connection = connection;
        }

        @Override
        public void head(int code, Function<String, @Nullable String> headers) {
            connector.observer().accept(request, code);
            if (code / 100 != 2) {
                status = code;
                retryAfter = headers.apply("Retry-After");
                error = new ByteArrayOutputStream();
                return;
            }
            if (handler.isEndless()) {
                timer.cancel();
            }
            if (!over.get()) {
                handler.begins();
            }
        }

        @Override
        public void chunk(byte[] bytes) {
            connection.heard();
            if (error == null) {
                if (!over.get()) {
                    handler.chunk(Exchange.this, bytes);
                }
            } else if (error.size() + bytes.length <= LONGEST_ERROR) {
                error.writeBytes(bytes);
            }
        }

        @Override
        public void end() {
            stream = null;
            if (error == null) {
                Exchange.this.end(handler.complete());
            } else {
                refused(new ErrorAnswer(status, retryAfter, error.toByteArray())
                        .toException(request.what(), connector.timekeeper().wallTime()));
            }
        }

        @Override
        public void broken(Throwable cause, boolean unprocessed) {
            stream = null;
            if (unprocessed && attempts < MOST_CONNECTIONS) {
                connection.pool().retired(connection);
                again();
            } else if (cause instanceof StreamResetException) {
                lose(connector + " " + cause.getMessage());
            } else {
                fail(cause);
            }
        }

        private void refused(ApiServerException refusal) {
            if (refusal.httpCode() != 401 || renewed) {
                Exchange.this.end(refusal);
                return;
            }
            renewed = true;
            Identity unknown = identity();
            release();
            connector.credentials().renewed(unknown).whenComplete((other, thrown) -> {
                if (other == null || other.isSame(unknown)) {
                    endAnywhere(refusal);
                } else {
                    connection.pool().submit(Exchange.this, other);
                }
            });
        }

        private void again() {
            release();
            connection.pool().submit(Exchange.this, identity());
        }

        /** Gives the stream back, once. */
        private void release() {
            if (!released) {
                released = true;
                if (stream != null && !connection.isMultiplexed()) {
                    // the reset will close it
                    connection.pool().retired(connection);
                }
                // before the reset: the next exchange that gets the stream is sent on this event loop, after that
                connection.left(Exchange.this);
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
