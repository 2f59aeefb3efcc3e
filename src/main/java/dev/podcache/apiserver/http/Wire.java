package dev.podcache.apiserver.http;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One connection to the server, independent of the HTTP library. All methods must be called on the event loop of the
 * connection, and all callbacks run there.
 */
interface Wire {

    /** Listens to the events of one connection. */
    interface Listener {

        /**
         * Reports that the connection is open. Called at most once, before all other methods.
         *
         * @param multiplexed whether the connection uses HTTP/2, which has many streams and answers pings
         * @param limit the number of streams that the server allows; 1 for HTTP/1.1
         */
        void opened(boolean multiplexed, int limit);

        /** Reports that the server changed its stream limit. */
        void limited(int limit);

        /** Reports that the server accepts no more streams (GOAWAY). The streams that it processes continue. */
        void retired();

        /**
         * Reports that the connection was closed or could not be opened. This is the last call. There is none after
         * {@link Wire#close}.
         *
         * @param cause null if the connection was closed without an error
         */
        void closed(@Nullable Throwable cause);
    }

    /** Receives the response to one request. */
    interface Response {

        /** Receives the status and the headers. */
        void head(int status, Function<String, @Nullable String> headers);

        /**
         * Receives a part of the body.
         *
         * @return whether the server may send more; otherwise at most one window follows, until {@link Stream#goOn} is called or
         *     a part of that window is answered with true
         */
        boolean chunk(byte[] bytes);

        /** Returns whether the answer may be very large, and gets a larger window. */
        default boolean isLarge() {
            return false;
        }

        /** Reports that the answer is complete. This is the last call. */
        void end();

        /**
         * Reports that the stream ended before the answer was complete. This is the last call.
         *
         * @param cause a {@link ResetException} if the server reset it
         * @param unprocessed whether the request can safely be sent again, because the server did not process it
         */
        void broken(Throwable cause, boolean unprocessed);
    }

    /** Thrown if the server reset a stream (RST_STREAM) before the answer was complete. */
    final class ResetException extends IOException {

        /**
         * Creates the exception.
         *
         * @param code of HTTP/2
         */
        ResetException(long code) {
            super("reset the stream before the answer was complete (HTTP/2 error " + code + ")");
        }
    }

    /** One request in flight. */
    interface Stream {

        /** Ends the request: resets the stream of HTTP/2, or closes the connection of HTTP/1.1. Idempotent. */
        void reset();

        /** Lets the server send more, after a part that was followed by no other. Does nothing otherwise. */
        void goOn();
    }

    /**
     * Sends a request. Must be called only while the connection has a free stream. If the connection is closed or
     * retired, calls {@link Response#broken} with {@code unprocessed} before it returns; so it does, with a {@link
     * ResetException}, if the server has just lowered its limit.
     */
    Stream send(ServerRequest request, Map<String, List<String>> headers, Response response);

    /** Sends an HTTP/2 PING, and runs {@code answered} when its answer has arrived. */
    void ping(Runnable answered);

    /** Closes the connection without a call to its listener. Its streams break. Idempotent. */
    void close();
}
