package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the response to one request. {@code accepted}, {@code chunk} and {@code complete} are called in this order, on
 * the event loop of the connection. A request that is sent again is accepted at most once.
 */
interface ResponseReader {

    /** Returns whether the body may be endless, as for a watch. */
    default boolean isEndless() {
        return false;
    }

    /** Reports that the server accepted the request (2xx). */
    default void accepted() {}

    /** Receives a part of the body. May {@linkplain Exchange#end end} the exchange. */
    void chunk(Exchange exchange, byte[] bytes);

    /** Reports that the body is complete, and returns why it is invalid, or null. {@link #ended} follows. */
    default @Nullable ApiServerException complete() {
        return null;
    }

    /**
     * Reports the end of the exchange. This is the last call, on any thread. There is none if the request was
     * cancelled.
     *
     * @param failure null if the answer is complete
     */
    void ended(@Nullable ApiServerException failure);
}
