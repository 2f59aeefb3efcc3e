package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.http.ConnectionPool.ConnectionSlot;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One request and its response, for every method and every pool. Thread-safe. */
final class Exchange implements WatchHandle, ReceiveBudget.Receiver {

    /*
     * created   --pool sends it, its timeout starts---------------------------------> waiting
     * waiting   --credentials known, and a stream free: an attempt on a connection--> sent
     * sent      --not processed (GOAWAY, REFUSED_STREAM, not written), five times----> waiting
     * sent      --401, once, and other credentials are known-------------------------> waiting
     * any       --answer complete, failure, timer, close(), end of the pool----------> over
     *
     * The lock guards all fields that are not final; `over` and `attempt` are also read without it. What sets `over` may come from
     * several threads at the same time, and only the first one calls the reader and the observer. Nothing is called under
     * the lock.
     *
     * The calls of the reader of a watch must not overlap. So once there is an attempt, its end from another thread goes
     * through the event loop of the pool. Any other reader can be ended by any thread.
     */

    /** The number of times that a request is sent before it fails. */
    private static final int MOST_ATTEMPTS = 6;

    private final ServerRequest request;
    private final Duration timeout;
    private final ResponseReader reader;
    private final ConnectionPool pool;
    private final @Nullable ConnectionSlot preferred;
    private volatile boolean over;
    private Timekeeper.@Nullable Scheduled timer;
    private volatile Connection.@Nullable Attempt attempt; // the last one
    private byte attempts;
    private boolean wasSent;
    private boolean replacedIdentity;

    /** Creates an exchange that prefers no connection. */
    Exchange(ServerRequest request, Duration timeout, ResponseReader reader, ConnectionPool pool) {
        this(request, timeout, reader, pool, null);
    }

    /**
     * Creates an exchange, to be sent by {@code pool}.
     *
     * @param timeout the time from the call of the pool until the answer is complete, or until its headers arrive if the
     *     body {@linkplain ResponseReader#isEndless is endless}; includes every wait, also for credentials and for a
     *     connection
     * @param preferred the connection to use if it has a free stream
     */
    Exchange(
            ServerRequest request,
            Duration timeout,
            ResponseReader reader,
            ConnectionPool pool,
            @Nullable ConnectionSlot preferred) {
        this.request = request;
        this.timeout = timeout;
        this.reader = reader;
        this.pool = pool;
        this.preferred = preferred;
    }

    ServerRequest request() {
        return request;
    }

    boolean isOver() {
        return over;
    }

    @Nullable
    ConnectionSlot preferred() {
        return preferred;
    }

    /** Returns the connection that this exchange was last sent over, or null. */
    @Nullable
    ConnectionSlot carrier() {
        Connection.Attempt last = attempt;
        return last == null ? null : last.slot();
    }

    /** Implements {@link WatchHandle#connection} for a watch. */
    @Override
    public String connection() {
        ConnectionSlot carrier = over ? null : carrier();
        return carrier == null ? "" : pool.endpoint() + " #" + carrier.number();
    }

    /** Starts the timeout. Called once, by the pool. */
    void startTimeout() {
        Timekeeper.Scheduled started = pool.timekeeper().schedule(timeout, this::timedOut);
        boolean late;
        synchronized (this) {
            late = over;
            timer = late ? null : started;
        }
        if (late) {
            started.cancel();
        }
    }

    /**
     * Records that {@code next} sends this exchange. Runs on the event loop.
     *
     * @return false if this exchange is over, and must not be sent
     */
    boolean begin(Connection.Attempt next) {
        boolean first;
        synchronized (this) {
            if (over) {
                return false;
            }
            attempt = next;
            first = attempts == 0;
            attempts++;
        }
        if (first) {
            pool.endpoint().observer().accept(request, 0);
        }
        return true;
    }

    /** Reports that the attempt has handed the request to its connection. Runs on the event loop. */
    void sent() {
        boolean first;
        synchronized (this) {
            first = !wasSent && !over;
            wasSent = true;
        }
        if (first) {
            reader.sent();
        }
    }

    /**
     * Reports status and headers of the answer. Runs on the event loop.
     *
     * @return false if the answer is an error: the caller keeps its body
     */
    boolean answered(int status, Function<String, @Nullable String> headers) {
        if (over) {
            return true;
        }
        pool.endpoint().observer().accept(request, status);
        if (!reader.takes(status, headers)) {
            return false;
        }
        if (reader.isEndless()) {
            stopTimer();
        }
        if (!over) {
            reader.accepted();
        }
        return true;
    }

    /** Passes a part of the body on to the reader, and returns whether more may come. Runs on the event loop. */
    boolean chunk(byte[] bytes) {
        return over || reader.chunk(this, bytes);
    }

    boolean isLarge() {
        return reader.isLarge();
    }

    /** Lets the server send more. Runs on any thread. */
    @Override
    public void goOn() {
        Connection.Attempt last = attempt;
        if (last != null && !over) {
            pool.execute(last::goOn);
        }
    }

    /** Ends this exchange because the memory for what was received is used up. Runs on any thread. */
    @Override
    public void giveUp() {
        endAnywhere(noMemory());
    }

    ApiServerException noMemory() {
        return ApiServerException.withoutAnswer(
                FailureReason.UNAVAILABLE, request.what(), "the memory for incomplete answers is used up", null);
    }

    /** Ends this exchange, whose answer is complete. Runs on the event loop. */
    void complete() {
        if (!over) {
            end(reader.complete(this));
        }
    }

    /** Returns the facts of the connection whose answer is complete. Runs on the event loop, before the end. */
    ConnectionFacts facts(ConnectionFacts.VersionAnswer answer) {
        Connection.Attempt last;
        synchronized (this) {
            last = Objects.requireNonNull(attempt, "not sent yet");
        }
        return last.facts(answer);
    }

    /** Returns whether this exchange, which no server has processed, may be sent once more. */
    synchronized boolean maySendAgain() {
        return attempts < MOST_ATTEMPTS;
    }

    /** Returns how long a server that refused this exchange is left alone: first not at all, then 1, 2, 4 and 8 s, as by Go. */
    synchronized Duration pause() {
        return attempts < 2 ? Duration.ZERO : Duration.ofSeconds(1L << (attempts - 2));
    }

    /** Returns true once: this exchange may be sent again with other credentials. */
    synchronized boolean mayReplaceIdentity() {
        boolean may = !replacedIdentity;
        replacedIdentity = true;
        return may;
    }

    /** Ends this exchange with the failure that {@code cause} means. Runs on any thread. */
    void fail(Throwable cause) {
        endAnywhere(pool.endpoint().unanswered(request.what(), cause));
    }

    /** Ends this exchange because its connection or its stream was lost. Runs on any thread. */
    void connectionLost(String why) {
        endAnywhere(ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, request.what(), why, null));
    }

    /** Ends this exchange because the pool is closed. Runs on any thread. */
    void abort() {
        endAnywhere(ApiServerException.withoutAnswer(
                FailureReason.REJECTED,
                request.what(),
                "the connections to " + pool.endpoint()
                        + " have been closed; close them after everything that uses them",
                null));
    }

    private void timedOut() {
        String why = "no answer from " + pool.endpoint() + " within " + Durations.text(timeout);
        endAnywhere(ApiServerException.withoutAnswer(
                FailureReason.TIMEOUT, request.what(), why, new TimeoutException("no answer in time")));
    }

    /** Ends this exchange; without a failure, the answer is complete. Runs on the event loop. */
    void end(@Nullable ApiServerException failure) {
        Connection.Attempt last;
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            last = attempt;
        }
        if (last != null) {
            last.release();
        }
        hasEnded();
        reader.ended(failure);
    }

    /** Ends this exchange without a call to the reader. Runs on any thread. */
    @Override
    public void close() {
        Connection.Attempt last;
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            last = attempt;
        }
        if (last != null) {
            pool.execute(() -> {
                last.release();
                reader.dropped();
            });
        }
        hasEnded();
    }

    private void endAnywhere(@Nullable ApiServerException failure) {
        boolean endless = reader.isEndless();
        Connection.Attempt last;
        boolean mayOverlap;
        synchronized (this) {
            if (over) {
                return;
            }
            last = attempt;
            // then it ends on the event loop, and is not over before
            mayOverlap = last != null && endless;
            over = !mayOverlap;
        }
        if (mayOverlap) {
            pool.execute(() -> end(failure));
            return;
        }
        if (last != null) {
            pool.execute(last::release);
        }
        hasEnded();
        reader.ended(failure);
    }

    private void hasEnded() {
        stopTimer();
        pool.endpoint().observer().accept(request, -1);
        pool.ended(this);
    }

    private void stopTimer() {
        Timekeeper.Scheduled stopped;
        synchronized (this) {
            stopped = timer;
            timer = null;
        }
        if (stopped != null) {
            stopped.cancel();
        }
    }

    @Override
    public String toString() {
        return request.what();
    }
}
