package dev.podcache.object;

/** How much is known of a referenced object. */
public enum Phase {
    /** Referenced, but no answer is held: nobody asked yet, or a new reference or the payload budget made us forget it. */
    UNREAD,
    /** Held, and as young as the strategy promises. */
    FRESH,
    /** Held, but older than the strategy promises, or out of contact: the next get tries to do better. */
    STALE,
    /** The API server's last answer was NotFound. */
    ABSENT,
    /** Strategy WATCH: the first list and watch have not succeeded yet. */
    NOT_SYNCED
}
