package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.vertx.core.Context;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.http.StreamResetException;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** One GET and what became of it, over a connection that somebody else chooses. Thread-safe. */
final class Exchange {

    /*
     * It is prepared on a thread that may block, waits for a connection, and from send() on lives on one event loop,
     * that of the connection. Whoever sets `over` first, the end or a cancelling, has the last word.
     *
     * A server that asks for no more streams (GOAWAY) names the last one that it handles. A request that it does not
     * handle is sent again over another connection, which may have another event loop: until then `context` is null.
     *
     * Ending is possible everywhere, but the request and the seat belong to the loop. send() writes `context` and then
     * reads `over`; who ends it elsewhere writes `over` and then reads `context`: at least one of them sees the other
     * and gives the stream back. Both may, so release() does it once.
     */

    /** The connections on which a request is tried, one after another, before it fails. */
    private static final int MOST_CONNECTIONS = 6;

    private static final long CANCEL = 8; // of RFC 9113; HTTP/1.1 closes the connection instead

    private final Ask ask;
    private final Answer answer;
    private final Endpoint endpoint;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile Runnable whenOver = () -> {};
    private volatile Timekeeper.@Nullable Scheduled patience;
    private volatile @Nullable RequestOptions options; // until it is answered
    private volatile @Nullable Context context;

    private @Nullable HttpClientRequest sent; // touched on the event loop only
    private @Nullable Seat seat; // touched on the event loop only
    private int connections = 1; // that it was given to; touched on the event loop only

    Exchange(Ask ask, Answer answer, Endpoint endpoint) {
        this.ask = ask;
        this.answer = answer;
        this.endpoint = endpoint;
    }

    /**
     * What to ask for.
     *
     * @param what for messages, such as {@code LIST secrets in shop}
     * @param path path and query below the server's URL
     * @param patience until {@link #settled}, waiting for a connection included
     * @param needsManyOnOne whether it is of use only over a connection that carries many
     */
    record Ask(String what, String path, Duration patience, boolean needsManyOnOne) {}

    /** Told what comes of it. */
    interface Answer {

        /** Status 200; the body is to be read, on the event loop that calls this. */
        void begins(Exchange exchange, HttpClientResponse response);

        /**
         * It is over. The last call; not made after {@link #cancel}.
         *
         * @param failure null if all went well, or if it was given up
         */
        void ended(@Nullable ApiServerException failure);
    }

    /** Has {@code action} run once when this is over, however. To be called before {@link #prepare}. */
    void whenOver(Runnable action) {
        whenOver = action;
    }

    Ask ask() {
        return ask;
    }

    boolean isOver() {
        return over.get();
    }

    /**
     * Makes the request. May block, because credentials may be read or refreshed.
     *
     * @return whether it is to be sent
     */
    boolean prepare() {
        if (over.get()) {
            return false;
        }
        patience = endpoint.timekeeper().schedule(ask.patience, this::endLate);
        try {
            URI uri = endpoint.uri(ask.path);
            RequestOptions request =
                    new RequestOptions().setAbsoluteURI(uri.toString()).setMethod(HttpMethod.GET);
            endpoint.credentials()
                    .headers(uri)
                    .forEach((name, values) -> values.forEach(value -> request.addHeader(name, value)));
            options = request;
        } catch (RuntimeException e) {
            fail(e);
        }
        if (over.get()) {
            stopPatience();
            return false;
        }
        return true;
    }

    /** What {@link #prepare} made. */
    RequestOptions options() {
        return Objects.requireNonNull(options, "answered already");
    }

    /**
     * Sends it. On the event loop of the connection.
     *
     * @param taken null if the connection is its own
     */
    void send(HttpClientRequest request, Context loop, @Nullable Seat taken) {
        context = loop;
        seat = taken;
        sent = request;
        request.exceptionHandler(broken -> endBroken(request, broken));
        // sent even if nobody wants it any more: Vert.x never gets back a stream that was not begun
        request.send()
                .onSuccess(response -> answered(request, response))
                .onFailure(broken -> endBroken(request, broken));
        if (over.get()) {
            release();
        }
    }

    /** Whether it may be given to another connection, because this one did not take it. On the event loop. */
    boolean mayGoElsewhere() {
        return connections++ < MOST_CONNECTIONS;
    }

    /** Ends it before it was sent. On any thread. */
    void fail(Throwable cause) {
        endElsewhere(endpoint.unanswered(ask.what, cause));
    }

    /** Ends it well because there is nothing to be had this way. On any thread. */
    void giveUp() {
        endElsewhere(null);
    }

    /** Ends it because its connection is of no use any more. On the event loop. */
    void lose(String why) {
        end(unavailable(why));
    }

    /** Ends it because everything is being closed. On any thread. */
    void abort() {
        endElsewhere(unavailable("the connection to " + endpoint + " has been closed"));
    }

    /** Ends it with a cause found by who reads the body, or without one. On the event loop. */
    void end(@Nullable ApiServerException failure) {
        if (over.compareAndSet(false, true)) {
            stopWaiting();
            release();
            answer.ended(failure);
        }
    }

    /** Ends it without a word to the {@link Answer}. On any thread. */
    void cancel() {
        if (over.compareAndSet(false, true)) {
            stopWaiting();
            releaseElsewhere();
        }
    }

    /** The answer came in time; what follows may take as long as it likes. On the event loop. */
    void settled() {
        stopPatience();
    }

    /**
     * Ends it without a word to the {@link Answer} and keeps its seat for who comes next. On the event
     * loop, when the answer is complete.
     *
     * @return null if it was over already, or has none
     */
    @Nullable
    Seat endKeepingSeat() {
        Seat taken = seat;
        if (taken == null || !over.compareAndSet(false, true)) {
            return null;
        }
        stopWaiting();
        sent = null;
        seat = null;
        taken.connection().keep(this, taken);
        return taken;
    }

    private void answered(HttpClientRequest request, HttpClientResponse response) {
        options = null;
        response.exceptionHandler(broken -> endBroken(request, broken));
        if (response.statusCode() == 200) {
            answer.begins(this, response);
        } else {
            new Refusal(ask.what, ask.path, endpoint, endpoint.timekeeper().blocking())
                    .read(response, this::endElsewhere);
        }
    }

    private void endBroken(HttpClientRequest request, Throwable cause) {
        if (request != sent) {
            return;
        }
        Seat taken = seat;
        if (taken != null && options != null && taken.connection().ignores(request) && mayGoElsewhere()) {
            sent = null;
            seat = null;
            context = null;
            taken.connection().passOn(this, taken);
        } else if (cause instanceof StreamResetException reset) {
            lose(endpoint + " broke off the answer (HTTP/2 error " + reset.getCode() + ")");
        } else {
            end(endpoint.unanswered(ask.what, cause));
        }
    }

    private void endLate() {
        endElsewhere(ApiServerException.withoutAnswer(
                FailureReason.TIMEOUT, ask.what, "no answer from " + endpoint + " within " + ask.patience, null));
    }

    private ApiServerException unavailable(String why) {
        return ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, ask.what, why, null);
    }

    private void endElsewhere(@Nullable ApiServerException failure) {
        Context loop = context;
        if (loop != null) {
            post(loop, () -> end(failure), () -> endElsewhere(failure));
        } else if (over.compareAndSet(false, true)) {
            stopWaiting();
            releaseElsewhere();
            answer.ended(failure);
        }
    }

    private void releaseElsewhere() {
        Context loop = context;
        if (loop != null) {
            post(loop, this::release, this::releaseElsewhere);
        }
    }

    /** Runs {@code there} on {@code loop}; runs {@code moved} instead if the request now belongs to another connection. */
    private void post(Context loop, Runnable there, Runnable moved) {
        EventLoops.post(loop, () -> (loop.equals(context) ? there : moved).run());
    }

    /** Gives back stream and seat. On the event loop. */
    private void release() {
        // the seat first: whoever gets it comes to this event loop after the reset
        if (seat != null) {
            seat.connection().leave(this, seat);
            seat = null;
        }
        if (sent != null) {
            sent.reset(CANCEL);
            sent = null;
        }
    }

    private void stopWaiting() {
        stopPatience();
        whenOver.run();
    }

    private void stopPatience() {
        Timekeeper.Scheduled timer = patience;
        if (timer != null) {
            timer.cancel();
            patience = null;
        }
    }

    @Override
    public String toString() {
        return ask.what;
    }
}
