package dev.podcache.kubelet.server;

/** What a client uses over a WebSocket: a command, the streams of a container, or ports. Immutable. */
interface WebSocketCall {

    /**
     * Runs to the end of the call, or until the client leaves. May block. Reports failures to the client itself.
     *
     * @throws InterruptedException if the client has left, or the server closes
     */
    void run(WebSocketSession session) throws InterruptedException;

    /** Returns the subprotocol of the WebSocket; empty for none. */
    String subprotocol();

    /** Returns what the log may show: never commands or contents, which may be secret. */
    @Override
    String toString();
}
