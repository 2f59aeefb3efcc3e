package dev.podcache.apiserver;

/** Closes a watch that is open or being opened. Thread-safe. */
@FunctionalInterface
public interface WatchHandle {

    /**
     * Closes the watch, at the server too. The consumer gets no new event once this has returned; a call that another
     * thread had already started may still be running. Never blocks. Idempotent.
     */
    void close();
}
