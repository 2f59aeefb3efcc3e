package dev.podcache.apiserver;

/** An open watch, or one that is being opened. Thread-safe. */
@FunctionalInterface
public interface WatchHandle {

    /**
     * Ends the watch at the server at once; its consumer is told nothing more once this returned, though a call that
     * had begun on another thread may still be running. Never blocks. Idempotent.
     */
    void close();
}
