package dev.podcache.store;

import com.google.common.collect.ImmutableSetMultimap;

/** Where the watch of one object stands. */
enum WatchState {
    /** Being opened for the first time in this epoch: nothing is known, gets wait. */
    OPENING,
    /** Listed and watched: what is known is what the server has. */
    LIVE,
    /** Lost after it was live; what was known is served, stale, while it is tried again. */
    BROKEN,
    /** Closed because nobody read the object for long; what was known is kept aside. */
    IDLE,
    /** Being opened again because somebody reads it: gets wait, and fall back to what was kept aside. */
    REOPENING,
    /** Closed because the object says that it never changes; it is served from memory. */
    IMMUTABLE,
    /** Nobody refers to the object any more. */
    DROPPED;

    private static final ImmutableSetMultimap<WatchState, WatchState> MOVES =
            ImmutableSetMultimap.<WatchState, WatchState>builder()
                    .putAll(OPENING, LIVE, IMMUTABLE, DROPPED)
                    .putAll(LIVE, BROKEN, IDLE, IMMUTABLE, DROPPED)
                    .putAll(BROKEN, LIVE, IMMUTABLE, DROPPED)
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
        return this == OPENING || this == LIVE || this == BROKEN || this == REOPENING;
    }

    /** Whether gets wait for the first answer. */
    boolean isOpening() {
        return this == OPENING || this == REOPENING;
    }
}
