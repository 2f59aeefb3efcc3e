package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.RequestOptions;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One request of a {@link HeartbeatConnection} and what became of it. Thread-safe. */
final class Heartbeat<R> {

    /*
     * Whoever sets `over` first has the last word: the answer, a failure, the timer, or the closing of everything. Only
     * that one tells the connection, and only then the caller. What comes later finds it over and does nothing; the
     * wire it came over is closed by then.
     */

    private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);

    private final ServerRequest request;
    private final Function<byte[], R> decode;
    private final Endpoint endpoint;
    private final CompletableFuture<R> result = new CompletableFuture<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile Told told = fate -> {};
    private volatile Timekeeper.@Nullable Scheduled timer;

    Heartbeat(ServerRequest request, Function<byte[], R> decode, Endpoint endpoint) {
        this.request = request;
        this.decode = decode;
        this.endpoint = endpoint;
    }

    /** How it ended, as far as the connection is concerned. */
    enum Fate {
        ANSWERED,
        /** The server does not know us (401). */
        UNKNOWN,
        /** No answer in time. */
        LATE,
        /** No answer, for another cause. */
        BROKEN
    }

    /** Told once, before the caller is. On any thread. */
    interface Told {
        void over(Fate fate);
    }

    CompletableFuture<R> result() {
        return result;
    }

    boolean isOver() {
        return over.get();
    }

    /** Its turn has come: from now on the time counts. */
    void begin(Duration timeout, Told whom) {
        told = whom;
        timer = endpoint.timekeeper().schedule(timeout, () -> end(Fate.LATE, late(timeout)));
        if (over.get()) {
            stopTimer();
        }
    }

    /** How it is to be asked. May block, because credentials may be read or refreshed. */
    RequestOptions options() {
        URI uri = endpoint.uri(request.path());
        RequestOptions options =
                new RequestOptions().setAbsoluteURI(uri.toString()).setMethod(HttpMethod.valueOf(request.method()));
        endpoint.credentials()
                .headers(uri)
                .forEach((name, values) -> values.forEach(value -> options.addHeader(name, value)));
        ServerRequest.Body body = request.body();
        if (body != null) {
            options.putHeader("Content-Type", body.mediaType());
        }
        return options;
    }

    /** Sends it over {@code wire}. On the event loop of that. */
    void send(HeartbeatWire wire, RequestOptions options) {
        if (over.get()) {
            return;
        }
        wire.http().request(options).onFailure(this::fail).onSuccess(asked -> {
            asked.exceptionHandler(this::fail);
            // else Vert.x logs an error when an idle connection is lost; what it says may quote the answer
            asked.connection()
                    .exceptionHandler(lost -> log.debug(
                            "the heartbeat connection to {} is lost ({})",
                            endpoint,
                            lost.getClass().getName()));
            ServerRequest.Body body = request.body();
            asked.send(body == null ? Buffer.buffer() : Buffer.buffer(body.json()))
                    .onFailure(this::fail)
                    .onSuccess(this::answered);
        });
    }

    /** Ends it without an answer. On any thread. */
    void fail(Throwable cause) {
        end(Fate.BROKEN, endpoint.unanswered(request.what(), cause));
    }

    /** Ends it because everything is being closed. On any thread. */
    void abort() {
        end(
                Fate.BROKEN,
                ApiServerException.withoutAnswer(
                        FailureReason.UNAVAILABLE,
                        request.what(),
                        "the connection to " + endpoint + " has been closed",
                        null));
    }

    private void answered(HttpClientResponse response) {
        response.exceptionHandler(this::fail);
        int code = response.statusCode();
        if (code / 100 == 2) {
            collect(response);
        } else {
            new Refusal(
                            request.what(),
                            request.path(),
                            endpoint,
                            endpoint.timekeeper().urgent())
                    .read(response, failure -> end(code == 401 ? Fate.UNKNOWN : Fate.ANSWERED, failure));
        }
    }

    private void collect(HttpClientResponse response) {
        AnswerBody body = new AnswerBody(AnswerBody.LONGEST_OBJECT);
        response.handler(chunk -> {
            if (!body.add(chunk)) {
                end(Fate.BROKEN, body.tooLong(request.what()));
            }
        });
        response.endHandler(complete -> read(body));
    }

    private void read(AnswerBody body) {
        if (settle(Fate.ANSWERED)) {
            endpoint.timekeeper().workers().execute(() -> {
                try {
                    result.complete(decode.apply(body.bytes()));
                } catch (Throwable unreadable) {
                    // of whatever kind: nobody else is left to end the wait
                    result.completeExceptionally(unreadable);
                }
            });
        }
    }

    private void end(Fate fate, ApiServerException failure) {
        if (settle(fate)) {
            result.completeExceptionally(failure);
        }
    }

    private boolean settle(Fate fate) {
        if (!over.compareAndSet(false, true)) {
            return false;
        }
        stopTimer();
        told.over(fate);
        return true;
    }

    private void stopTimer() {
        Timekeeper.Scheduled running = timer;
        if (running != null) {
            running.cancel();
        }
    }

    private ApiServerException late(Duration timeout) {
        return ApiServerException.withoutAnswer(
                FailureReason.TIMEOUT, request.what(), "no answer from " + endpoint + " within " + timeout, null);
    }

    @Override
    public String toString() {
        return request.what();
    }
}
