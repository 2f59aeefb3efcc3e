package dev.podcache.object;

/** How much the cache knows about a referenced object. */
public enum CacheState {
    /**
     * No answer is held: the object was not read yet, or its answer was dropped for a new reference or by the payload
     * budget.
     */
    UNREAD,
    /**
     * An answer is held that is younger than the TTL, or whose watch has confirmed it since the watch was last lost, or
     * that needs neither: the object is immutable, or read once for each reference.
     */
    FRESH,
    /**
     * An answer is held that is older than the TTL, or whose watch is lost. The next get tries to refresh it. With a
     * background refresh it may be served for a while without an attempt.
     */
    STALE,
    /** The API server's last answer was NotFound. */
    ABSENT,
    /** Strategy WATCH: the first list and watch have not succeeded yet. */
    NOT_SYNCED,
    /**
     * No answer is held: the API server refuses the object (403), whose reference is new, and is asked again soon. Only
     * with {@code PodcacheBuilder.grantsFollow()}, where access comes after the reference.
     */
    WAITING_FOR_ACCESS,
    /**
     * The API server refuses the object (403): with {@code PodcacheBuilder.grantsFollow()}, although access had time to follow
     * the reference; with {@code PodcacheBuilder.watchRbac()}, because access was revoked, and the watch was closed for that.
     * In the second case, what is known may be held still, and is returned as stale.
     */
    FORBIDDEN
}
