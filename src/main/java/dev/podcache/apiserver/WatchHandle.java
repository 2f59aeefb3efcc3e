package dev.podcache.apiserver;

/** Closes a watch that is open or being opened. Thread-safe. */
@FunctionalInterface
public interface WatchHandle {

    /**
     * Closes the watch, at the server too. The consumer gets no new event once this has returned; a call that another
     * thread had already started may still be running. Never blocks. Idempotent.
     */
    void close();

    /**
     * Names the connection that carries the watch: the server and a number, such as {@code https://10.0.0.1:6443 #3}.
     * Empty before the request is sent, after the watch has ended, and if the implementation does not know its
     * connections.
     */
    default String connection() {
        return "";
    }
}
