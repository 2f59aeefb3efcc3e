package dev.podcache.store;

import com.google.common.collect.ImmutableSetMultimap;
import dev.podcache.object.CacheState;
import org.jspecify.annotations.Nullable;

/** The state of the watch of one object. */
enum WatchState {
    /** Being opened for the first time in this epoch: nothing is known, gets wait. */
    OPENING("watch being opened"),
    /** Listed and watched: what is known is what the server has. */
    LIVE("watched"),
    /** Lost, or open again but not confirmed yet: what was known is served, stale. */
    BROKEN("watch lost, being opened again"),
    /** Being opened again for a new reference to an object whose watch was broken: gets wait, through failures. */
    RENEWING("watch lost, being opened again for a new reference"),
    /** Closed because the object was not read for long. */
    IDLE("watch closed because the object is not read, opened again by the next get"),
    /** Being opened again because the object is read: gets wait until the first failure. */
    REOPENING("watch being opened again"),
    /** Closed because the object says that it never changes; it is served from memory. */
    IMMUTABLE("immutable, needs no watch"),
    /** The object is not referenced any more. */
    DROPPED("not referenced");

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

    /** The {@link #freshness} of a watch that is open again, but {@link #BROKEN}. */
    static final String RESUMED = "watch open again, not confirmed yet";

    /** The state in words, for {@link ObjectState#freshness}. */
    final String freshness;

    WatchState(String freshness) {
        this.freshness = freshness;
    }

    /** Returns the cache state of what is known in this state. */
    CacheState cacheState(@Nullable Answer<?> known) {
        return switch (this) {
            case OPENING -> CacheState.NOT_SYNCED;
            case LIVE, IMMUTABLE -> Answer.cacheStateOf(known);
            case BROKEN, RENEWING, IDLE, REOPENING ->
                known instanceof Answer.Present ? CacheState.STALE : Answer.cacheStateOf(known);
            case DROPPED -> CacheState.UNREAD;
        };
    }

    /** Moves from here; an illegal move is a bug and fails. */
    WatchState to(WatchState next) {
        if (!MOVES.containsEntry(this, next)) {
            throw new IllegalStateException("a watch cannot go from " + this + " to " + next);
        }
        return next;
    }

    /** Returns whether there is, or should be, a watch. */
    boolean wantsWatch() {
        return isOpening() || this == LIVE || this == BROKEN;
    }

    /** Returns whether gets wait. */
    boolean isOpening() {
        return this == OPENING || this == RENEWING || this == REOPENING;
    }

    /** Returns whether what is known is what the server has. */
    boolean isUpToDate() {
        return this == LIVE || this == IMMUTABLE;
    }

    /** Returns whether the state begins a new epoch, which is answered by a list that began in it. */
    boolean beginsEpoch() {
        return this == OPENING || this == RENEWING;
    }
}
