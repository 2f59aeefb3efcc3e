package dev.podcache.kubelet.server;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Messages from and to a client, over a WebSocket. Thread-safe; no method blocks. */
interface MessageChannel {

    /**
     * Sends a message, which the caller must not modify afterwards. The future completes when it was handed to the
     * network, and fails if the client has gone.
     */
    CompletableFuture<?> send(byte[] message);

    /**
     * Receives messages from now on, one at a time: the next one when the future of the one before is complete. Call
     * it once. Messages that arrive earlier wait.
     */
    void receive(Function<byte[], CompletableFuture<?>> receiver);

    /** Returns whether messages wait because the receiver takes none, so that the client is not read from. */
    boolean isHeldUp();

    /** Asks the client for a sign of life, which it sends by itself. Closes the channel if that cannot be sent. */
    void ping();

    /** Closes the channel after all that was sent. Idempotent. */
    void close();

    /** Returns a future that completes when the client or the server has closed the channel. */
    CompletableFuture<?> closed();
}
