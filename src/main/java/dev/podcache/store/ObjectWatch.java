package dev.podcache.store;

import io.fabric8.kubernetes.api.model.HasMetadata;

/**
 * What keeps one {@link WatchEntry} up to date: a watch of its own, or a place in the watch of its namespace. Reports
 * answers and failures to the entry until it is closed. All methods return at once; the entry calls them under no lock,
 * except {@link #connection}, {@link #isOver} and {@link #note}.
 */
sealed interface ObjectWatch<T extends HasMetadata> permits WatchSession, NamespaceMember {

    /** Begins to read and watch the object. */
    void open();

    /** Puts its requests before those of others until the object is up to date, because a get waits for it. */
    void hurry();

    /** Ends it. May come before {@link #open}, which then has no effect. Idempotent. */
    void close();

    /** Names the connection that carries the watch, or returns "". Takes no lock. */
    String connection();

    /** Returns whether it is over without having been closed by the entry, which then needs another. Takes no lock. */
    boolean isOver();

    /** Returns what to add to the freshness of the object, as text for people; "" for nothing. Takes no lock. */
    default String note() {
        return "";
    }
}
