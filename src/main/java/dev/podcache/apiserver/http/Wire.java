package dev.podcache.apiserver.http;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One connection to the server as the HTTP library gives it. Every method is called, and calls back, on the event loop
 * that the connection was opened with.
 */
interface Wire {

    /** Told what becomes of the connection. */
    interface Listener {

        /**
         * The connection can be used. Called at most once, before all others.
         *
         * @param multiplexed whether it is HTTP/2, which carries many streams and answers pings
         * @param limit how many streams the server allows; 1 for HTTP/1.1
         */
        void opened(boolean multiplexed, int limit);

        /** The server changed its limit of streams. */
        void limited(int limit);

        /** The server asked for no more streams (GOAWAY); those it handles go on. */
        void retired();

        /**
         * The connection ended, or could not be made. The last call; not made after {@link Wire#close}.
         *
         * @param cause null if it was closed without an error
         */
        void closed(@Nullable Throwable cause);
    }

    /** Told what becomes of one request. */
    interface Response {

        /** Status and headers came. */
        void head(int status, Function<String, @Nullable String> headers);

        /** A part of the body came. */
        void chunk(byte[] bytes);

        /** The answer is complete. The last call. */
        void end();

        /**
         * The stream ended before its answer was complete. The last call.
         *
         * @param unprocessed whether the server said that it did not begin to handle the request
         */
        void broken(Throwable cause, boolean unprocessed);
    }

    /** One request under way. */
    interface Stream {

        /** Ends it at the server: resets the stream, or closes the connection if it is HTTP/1.1. Idempotent. */
        void reset();
    }

    /**
     * Sends a request. To be called only while the connection has a stream free. One that is closed or was retired
     * breaks it, as unprocessed, before this returns.
     */
    Stream send(ServerRequest request, Map<String, List<String>> headers, Response response);

    /** Sends an HTTP/2 PING; {@code answered} runs when its answer came. */
    void ping(Runnable answered);

    /** Closes it without a word to its listener; its streams are told. Idempotent. */
    void close();
}
