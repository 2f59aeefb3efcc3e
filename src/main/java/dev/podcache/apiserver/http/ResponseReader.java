package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import org.jspecify.annotations.Nullable;

/**
 * Takes what one request brings. {@code begins}, {@code chunk} and {@code complete} are called on the event loop of the
 * connection, in that order; a request that is sent again begins once at most.
 */
interface ResponseReader {

    /** Whether the body may go on for as long as it likes, as that of a watch. */
    default boolean isEndless() {
        return false;
    }

    /** The server accepted the request (2xx). */
    default void begins() {}

    /** A part of the body came. May {@linkplain Exchange#end end} the exchange. */
    void chunk(Exchange exchange, byte[] bytes);

    /** The body is complete; returns what is wrong with it, or null. {@link #ended} follows. */
    default @Nullable ApiServerException complete() {
        return null;
    }

    /**
     * It is over. The last call, on any thread; not made if the request was cancelled.
     *
     * @param failure null if the answer is complete
     */
    void ended(@Nullable ApiServerException failure);
}
