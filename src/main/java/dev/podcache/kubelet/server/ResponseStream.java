package dev.podcache.kubelet.server;

import java.util.concurrent.CompletableFuture;

/** A response whose length is not known when it begins. Thread-safe; no method blocks. */
interface ResponseStream {

    /**
     * Sends bytes, which the caller must not modify afterwards. The future completes when they were handed to the
     * network, and fails if the client has gone.
     */
    CompletableFuture<?> write(byte[] bytes);

    /** Ends the response after all that was written. */
    void end();

    /**
     * Closes the connection, so that the client sees that the response is not complete. Has no effect after {@link #end}.
     */
    void abort();

    /** Returns a future that completes when the client or the server has closed the connection. */
    CompletableFuture<?> closed();
}
