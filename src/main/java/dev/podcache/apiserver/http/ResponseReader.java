package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import org.jspecify.annotations.Nullable;

/**
 * Takes what one request brings. {@code begins}, {@code chunk} and {@code complete} are called on the event loop of the
 * connection, in that order; a request that is sent again begins once at most.
 */
interface ResponseReader {

    /** Whether the body may go on for as long as it likes, as that of a watch. */
    boolean isEndless();

    /** The server accepted the request (2xx). */
    void begins(Exchange exchange);

    /** A part of the body came. May {@linkplain Exchange#end end} the exchange. */
    void chunk(byte[] bytes);

    /** The body is complete; returns what is wrong with it, or null. {@link #ended} follows. */
    @Nullable
    ApiServerException complete();

    /**
     * It is over. The last call, on any thread.
     *
     * @param failure null if the answer is complete
     */
    void ended(@Nullable ApiServerException failure);

    /** It was cancelled. The last call, on any thread. */
    void cancelled();
}
