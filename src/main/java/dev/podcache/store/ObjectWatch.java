package dev.podcache.store;

/**
 * Keeps one {@link WatchEntry} up to date: a watch of its own, or a place in the watch of its namespace. Reports answers
 * and failures to the entry. After {@link #close}, a report that has begun may still come; the entry ignores it.
 *
 * <p>The entry calls {@link #connection}, {@link #isOver} and {@link #note} under its lock, and the other methods under
 * no lock, in any order and on any thread. None of them waits for the network or for a report.
 */
sealed interface ObjectWatch permits WatchEntry.OwnWatch, NamespaceWatch.Member {

    /** Begins to list and watch the object. Called once. Without effect after {@link #close}. */
    void open();

    /** Puts its requests before those of others until the object is up to date, because a get waits for it. */
    void hurry();

    /** Repeats a failed attempt before its pause is over, but not within 250 ms of the failure. */
    void retry();

    /**
     * Reads the object once, by a quorum read, while it goes on to watch: the object was evicted. Reports the answer by
     * {@link WatchEntry#reread}, and a failure by {@link WatchEntry#rereadFailed} or as that of any attempt. Without
     * effect while it is not up to date, because a list follows anyway.
     */
    void read();

    /** Ends the watch. May come before {@link #open}. Idempotent. */
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
