package dev.podcache.object;

/** How much is known of a referenced object. */
public enum CacheState {
    /**
     * Referenced, but no answer is held: nobody asked yet, or a new reference or the payload budget made us forget it.
     */
    UNREAD,
    /** Held, and no older than the TTL, or watched and confirmed since the watch was last lost. */
    FRESH,
    /**
     * Held, but older than the TTL, or out of contact: the next get tries to do better. With a background refresh it
     * may be served without that for a while.
     */
    STALE,
    /** The API server's last answer was NotFound. */
    ABSENT,
    /** Strategy WATCH: the first list and watch have not succeeded yet. */
    NOT_SYNCED
}
