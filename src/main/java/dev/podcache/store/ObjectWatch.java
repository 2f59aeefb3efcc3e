package dev.podcache.store;

import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * Keeps one {@link WatchEntry} up to date: a watch of its own, or a place in the watch of its namespace. Reports
 * answers and failures to the entry until it is closed. All methods return at once. The entry calls
 * {@link #connection}, {@link #isOver} and {@link #note} under its lock, and the other methods under no lock.
 */
sealed interface ObjectWatch<T extends HasMetadata> permits WatchSession, NamespaceMember {

    /** Begins to read and watch the object. */
    void open();

    /** Puts its requests before those of others until the object is up to date, because a get waits for it. */
    void hurry();

    /** Ends the watch. May be called before {@link #open}, which then has no effect. Idempotent. */
    void close();

    /** Names the connection that carries the watch, or returns "". Takes no lock. */
    String connection();

    /**
     * Returns whether the watch has ended although the entry did not close it; the entry then needs another one. Takes
     * no lock.
     */
    boolean isOver();

    /** Returns what to add to the freshness of the object, as text for people; "" for nothing. Takes no lock. */
    default String note() {
        return "";
    }
}
