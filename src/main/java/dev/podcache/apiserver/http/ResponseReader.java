package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads the response to one request. {@code sent}, {@code takes}, {@code accepted}, {@code chunk} and {@code complete}
 * are called in this order, on the event loop of the connection. None is called once the exchange has ended. A request
 * that is sent again is accepted at most once.
 */
interface ResponseReader {

    /** Returns whether the body may be endless, as for a watch. */
    default boolean isEndless() {
        return false;
    }

    /** Returns whether the body may be very large, such as a page of a list. */
    default boolean isLarge() {
        return false;
    }

    /**
     * Reports that the request was handed to a connection, which writes it at once: the waits for a rate limit, for
     * credentials, for a connection and for a free stream are over. Called at most once, also if the request is sent again.
     */
    default void sent() {}

    /**
     * Decides by the status and the headers whether this reader reads the body. Any other answer fails the exchange, or
     * is repeated with other credentials after a 401. Called for each answer. The default takes 2xx.
     */
    default boolean takes(int status, Function<String, @Nullable String> headers) {
        return status / 100 == 2;
    }

    /** Reports that this reader reads the body, because it takes the answer. */
    default void accepted() {}

    /**
     * Receives a part of the body. May {@linkplain Exchange#end end} the exchange.
     *
     * @return whether the server may send more at once; otherwise it may when {@link Exchange#goOn} is called
     */
    boolean chunk(Exchange exchange, byte[] bytes);

    /** Reports that the body is complete, and returns why it is invalid, or null. {@link #ended} follows. */
    default @Nullable ApiServerException complete(Exchange exchange) {
        return null;
    }

    /** Reports that the exchange was closed, on the event loop. No call follows. Not called if nothing was sent. */
    default void dropped() {}

    /**
     * Reports the end of the exchange. This is the last call. There is none if the exchange was closed. Runs on any
     * thread, and at the same time as another call, unless the body is endless.
     *
     * @param failure null if the answer is complete
     */
    void ended(@Nullable ApiServerException failure);
}
