package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Durations;
import dev.podcache.time.TokenBucket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Sends reads and writes within the client-side limit. Thread-safe. */
final class Requests {

    private final ApiConnections connections;
    private final TokenBucket tokens;

    Requests(ApiConnections connections, TokenBucket tokens) {
        this.connections = connections;
        this.tokens = tokens;
    }

    /**
     * Sends one request, in a single attempt that counts against the limit. Returns at once and never throws.
     *
     * @param timeout the time for everything, including the wait for the limit; positive
     * @param decode decodes a 2xx body, on a worker thread
     * @return what {@code decode} returned or threw, or exceptionally an {@link ApiServerException}
     */
    <R> CompletableFuture<R> send(ServerRequest request, Duration timeout, Function<byte[], R> decode) {
        Optional<Duration> wait = tokens.take(timeout);
        if (wait.isEmpty()) {
            return CompletableFuture.failedFuture(ApiServerException.withoutAnswer(
                    FailureReason.THROTTLED,
                    request.what(),
                    "not sent: the client-side rate limit would delay it for longer than " + Durations.text(timeout),
                    null));
        }
        return connections.send(wait.get(), request, timeout, ApiConnections.LONGEST_OBJECT, decode);
    }
}
