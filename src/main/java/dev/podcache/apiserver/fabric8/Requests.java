package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.FailureReason;
import dev.podcache.time.TokenBucket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Sends reads and writes within the client-side limit of requests a second. Thread-safe. */
final class Requests {

    private final ApiConnections connections;
    private final TokenBucket tokens;

    Requests(ApiConnections connections, TokenBucket tokens) {
        this.connections = connections;
        this.tokens = tokens;
    }

    /**
     * One attempt that counts against the limit. Returns at once and never throws.
     *
     * @param timeout positive; waiting for the limit counts
     * @param decode reads a 2xx body, on a worker thread
     * @return what {@code decode} returned or threw, or exceptionally an {@link ApiServerException}
     */
    <R> CompletableFuture<R> send(ServerRequest request, Duration timeout, Function<byte[], R> decode) {
        Optional<Duration> wait = tokens.take(timeout);
        if (wait.isEmpty()) {
            return CompletableFuture.failedFuture(ApiServerException.withoutAnswer(
                    FailureReason.THROTTLED,
                    request.what(),
                    "not sent: the client-side limit of requests per second would hold it for longer than " + timeout,
                    null));
        }
        return connections.send(wait.get(), request, timeout, ApiConnections.LONGEST_OBJECT, decode);
    }
}
