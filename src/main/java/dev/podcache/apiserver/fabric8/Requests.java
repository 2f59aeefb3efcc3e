package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ErrorAnswer;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.stream.AnswerBody;
import dev.podcache.apiserver.stream.ServerRequest;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Reads and writes over the caller's fabric8 client. Thread-safe.
 *
 * <p>Each is one attempt that ends in time whatever the client does: it waits for its token, is sent and decoded on
 * worker threads (the client's own threads carry every other request of the process), and is watched by a timer of ours
 * from beginning to end. fabric8's own retries are off because they ignore Retry-After and may last 19 s; only a token
 * that the server does not know (401) it still renews, and asks once more.
 */
final class Requests implements AutoCloseable {

    private final HttpClient http;
    private final String server;
    private final QpsLimiter limiter;
    private final Timekeeper timekeeper;
    private final Set<InFlight<?>> inFlight = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /**
     * Requests to one server.
     *
     * @param http with retries switched off; never closed here
     * @param server its URL, with a path if there is one, without credentials and without a slash at the end
     */
    Requests(HttpClient http, String server, QpsLimiter limiter, Timekeeper timekeeper) {
        this.http = http;
        this.server = server;
        this.limiter = limiter;
        this.timekeeper = timekeeper;
    }

    /**
     * One attempt that counts against the client-side limit. Returns at once and never throws.
     *
     * @param timeout positive; waiting for a token counts
     * @param decode reads a 2xx body, on a worker thread
     * @return what {@code decode} returned, or exceptionally an {@link ApiServerException}
     */
    <R> CompletableFuture<R> send(ServerRequest request, Duration timeout, Function<byte[], R> decode) {
        Optional<Duration> wait = limiter.take(timeout);
        if (wait.isEmpty()) {
            return CompletableFuture.failedFuture(ApiServerException.withoutAnswer(
                    FailureReason.THROTTLED,
                    request.what(),
                    "not sent: the client-side limit of requests per second would hold it for longer than " + timeout,
                    null));
        }
        return begin(new InFlight<>(request, timeout, AnswerBody.LONGEST_OBJECT, decode), wait.get());
    }

    /** The same of a list, outside the limit. */
    <R> CompletableFuture<R> sendUnlimited(ServerRequest request, Duration timeout, Function<byte[], R> decode) {
        return begin(new InFlight<>(request, timeout, AnswerBody.LONGEST_LIST, decode), Duration.ZERO);
    }

    private <R> CompletableFuture<R> begin(InFlight<R> attempt, Duration wait) {
        attempt.begin(wait);
        return attempt.result;
    }

    /** Requests in flight fail, and so does every later one. The client stays open. Idempotent. */
    @Override
    public void close() {
        closed = true;
        inFlight.forEach(attempt -> attempt.failClosed("Fabric8ApiServer"));
    }

    private final class InFlight<R> {

        final CompletableFuture<R> result = new CompletableFuture<>();
        private final ServerRequest asked;
        private final Duration timeout;
        private final int longest;
        private final Function<byte[], R> decode;
        private final long began = timekeeper.nanoTime();

        InFlight(ServerRequest asked, Duration timeout, int longest, Function<byte[], R> decode) {
            this.asked = asked;
            this.timeout = timeout;
            this.longest = longest;
            this.decode = decode;
        }

        void begin(Duration wait) {
            inFlight.add(this);
            Timekeeper.Scheduled timer = timekeeper.schedule(timeout, this::failLate);
            result.whenComplete((value, failure) -> {
                inFlight.remove(this);
                timer.cancel();
            });
            if (closed) {
                failClosed("Fabric8ApiServer");
            } else if (wait.isZero()) {
                timekeeper.blocking().execute(this::send);
            } else {
                timekeeper.schedule(wait, () -> timekeeper.blocking().execute(this::send));
            }
        }

        private void send() {
            Duration left = timeout.minusNanos(timekeeper.nanoTime() - began);
            if (result.isDone() || left.isNegative() || left.isZero()) {
                return;
            }
            if (http.isClosed()) {
                failClosed("KubernetesClient");
                return;
            }
            try {
                BoundedBody body = new BoundedBody(longest);
                http.consumeBytes(request(left), body)
                        .thenCompose(body::complete)
                        .thenApplyAsync(response -> read(response, body), timekeeper.workers())
                        .whenComplete((value, thrown) -> {
                            if (thrown != null) {
                                fail(thrown);
                            } else {
                                result.complete(value);
                            }
                        });
            } catch (RuntimeException e) {
                fail(e);
            }
        }

        private HttpRequest request(Duration left) {
            HttpRequest.Builder builder = http.newHttpRequestBuilder()
                    .uri(server + asked.path())
                    .setHeader("Accept", "application/json")
                    .timeout(left.toMillis() + 1, TimeUnit.MILLISECONDS);
            ServerRequest.Body body = asked.body();
            if (body != null) {
                builder.method(asked.method(), body.mediaType(), body.json());
            }
            return builder.build();
        }

        private R read(HttpResponse<?> response, BoundedBody body) {
            byte[] bytes = body.bytes(asked.what());
            if (response.isSuccessful()) {
                return decode.apply(bytes);
            }
            throw new ErrorAnswer(response.code(), response.header("Retry-After"), bytes)
                    .toException(asked.what(), timekeeper.wallTime());
        }

        private void fail(Throwable thrown) {
            result.completeExceptionally(NoAnswer.because(asked.what(), server, thrown));
        }

        private void failLate() {
            result.completeExceptionally(ApiServerException.withoutAnswer(
                    FailureReason.TIMEOUT, asked.what(), "no answer from " + server + " within " + timeout, null));
        }

        /** For good: what is closed stays closed, and without our timers a pause before a repetition would never end. */
        private void failClosed(String what) {
            result.completeExceptionally(ApiServerException.withoutAnswer(
                    FailureReason.REJECTED,
                    asked.what(),
                    "the " + what + " is closed: close it after what uses it",
                    null));
        }
    }
}
