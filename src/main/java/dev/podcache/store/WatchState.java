package dev.podcache.store;

import com.google.common.collect.ImmutableSetMultimap;

/** Where the watch of one object stands. */
enum WatchState {
    /** Being opened for the first time in this epoch: nothing is known, gets wait. */
    OPENING,
    /** Listed and watched: what is known is what the server has. */
    LIVE,
    /** Lost, or open again but not confirmed yet: what was known is served, stale. */
    BROKEN,
    /** Being opened again for a new reference to an object whose watch was broken: gets wait, through failures. */
    RENEWING,
    /** Closed because nobody read the object for long. */
    IDLE,
    /** Being opened again because somebody reads the object: gets wait until the first failure. */
    REOPENING,
    /** Closed because the object says that it never changes; it is served from memory. */
    IMMUTABLE,
    /** Nobody refers to the object any more. */
    DROPPED;

    private static final ImmutableSetMultimap<WatchState, WatchState> MOVES =
            ImmutableSetMultimap.<WatchState, WatchState>builder()
                    .putAll(OPENING, LIVE, BROKEN, IMMUTABLE, DROPPED)
                    .putAll(LIVE, BROKEN, IDLE, IMMUTABLE, DROPPED)
                    .putAll(BROKEN, LIVE, RENEWING, IMMUTABLE, DROPPED)
                    .putAll(RENEWING, LIVE, BROKEN, IMMUTABLE, DROPPED)
                    .putAll(IDLE, REOPENING, OPENING, DROPPED)
                    .putAll(REOPENING, LIVE, BROKEN, IMMUTABLE, OPENING, DROPPED)
                    .putAll(IMMUTABLE, OPENING, DROPPED)
                    .build();

    /** Moves from here; an illegal move is a bug and fails. */
    WatchState to(WatchState next) {
        if (!MOVES.containsEntry(this, next)) {
            throw new IllegalStateException("a watch cannot go from " + this + " to " + next);
        }
        return next;
    }

    /** Whether there is, or should be, a watch. */
    boolean wantsWatch() {
        return isOpening() || this == LIVE || this == BROKEN;
    }

    /** Whether gets wait. */
    boolean isOpening() {
        return this == OPENING || this == RENEWING || this == REOPENING;
    }

    /** Whether what is known is what the server has. */
    boolean isUpToDate() {
        return this == LIVE || this == IMMUTABLE;
    }

    /** Whether the state begins a new epoch, which is answered by a list that began in it. */
    boolean beginsEpoch() {
        return this == OPENING || this == RENEWING;
    }
}
