package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.time.Timekeeper;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What one connection to the API server, and the answer to one request on it, showed. Immutable.
 *
 * @param address the address that was connected to: of the proxy, or of the server without one
 * @param proxy the type and address of the proxy, without credentials
 * @param http2 whether HTTP/2 was agreed on
 * @param http2Offered whether HTTP/2 was offered; the environment or a plain HTTP proxy can keep it from being offered
 * @param streamLimit how many streams the server allows on one connection, at most 1000; 1 for HTTP/1.1
 * @param answer the answer to the request
 */
public record ConnectionFacts(
        InetSocketAddress address,
        Optional<String> proxy,
        boolean http2,
        boolean http2Offered,
        int streamLimit,
        VersionAnswer answer) {

    /**
     * The answer to the request.
     *
     * @param date the value of the header {@code Date}, or null
     * @param sent the wall time when the request was sent
     * @param received the wall time when the header arrived
     * @param body the first 64 KiB of the body
     */
    public record VersionAnswer(int status, @Nullable String date, Instant sent, Instant received, String body) {}

    /** Collects the facts of the connection that carries an exchange, whatever the status of the answer. */
    static final class ProbeReader implements ResponseReader {

        // all but the future belongs to the event loop; an end from another thread only fails the future

        private static final int LONGEST_BODY = 64 << 10;

        private final Timekeeper timekeeper;
        private final CompletableFuture<ConnectionFacts> result = new CompletableFuture<>();
        private final ByteArrayOutputStream body = new ByteArrayOutputStream();
        private int status;
        private @Nullable String date;
        private Instant sent = Instant.EPOCH;
        private Instant received = Instant.EPOCH;
        private @Nullable ConnectionFacts facts; // once the answer is complete

        ProbeReader(Timekeeper timekeeper) {
            this.timekeeper = timekeeper;
        }

        CompletableFuture<ConnectionFacts> result() {
            return result;
        }

        @Override
        public void sent() {
            sent = timekeeper.wallTime();
        }

        @Override
        public boolean takes(int code, Function<String, @Nullable String> headers) {
            received = timekeeper.wallTime();
            status = code;
            date = headers.apply("Date");
            return true;
        }

        @Override
        public boolean chunk(Exchange exchange, byte[] bytes) {
            body.write(bytes, 0, Math.min(bytes.length, LONGEST_BODY - body.size()));
            return true;
        }

        @Override
        public @Nullable ApiServerException complete(Exchange exchange) {
            facts = exchange.facts(
                    new VersionAnswer(status, date, sent, received, body.toString(StandardCharsets.UTF_8)));
            return null;
        }

        @Override
        public void ended(@Nullable ApiServerException failure) {
            if (failure == null) {
                result.complete(Objects.requireNonNull(facts, "ended without an answer"));
            } else {
                result.completeExceptionally(failure);
            }
        }
    }
}
