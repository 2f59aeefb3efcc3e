package dev.podcache.apiserver.http;

import java.net.InetSocketAddress;
import java.time.Instant;
import java.util.Optional;
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
}
