package dev.podcache.store;

import com.google.common.collect.ImmutableSetMultimap;
import dev.podcache.object.CacheState;
import org.jspecify.annotations.Nullable;

/** The state of the watch of one object. */
enum WatchState {
    /** The watch is being opened for the first time in this epoch. There is no answer, gets wait. */
    OPENING("watch being opened"),
    /** Listed and watched. The answer is up to date. */
    LIVE("watched"),
    /** The watch was lost, or was reopened but is not confirmed yet. The known answer is returned as stale. */
    BROKEN("watch lost, being reopened"),
    /** A broken watch is being reopened for a new reference. Gets wait, through failures. */
    RENEWING("watch lost, being reopened for a new reference"),
    /** The watch was closed because the object was not read for long. */
    IDLE("watch closed because the object was not read; the next get reopens it"),
    /** The watch of an idle object is being reopened for a get. Gets wait until the first failure. */
    REOPENING("watch being reopened"),
    /** The watch was closed because the object is immutable. It is returned from memory. */
    IMMUTABLE("immutable, needs no watch"),
    /** The object is no longer referenced. */
    DROPPED("not referenced");

    private static final ImmutableSetMultimap<WatchState, WatchState> TRANSITIONS =
            ImmutableSetMultimap.<WatchState, WatchState>builder()
                    .putAll(OPENING, LIVE, BROKEN, IMMUTABLE, DROPPED)
                    .putAll(LIVE, BROKEN, IDLE, IMMUTABLE, OPENING, DROPPED)
                    .putAll(BROKEN, LIVE, RENEWING, IMMUTABLE, DROPPED)
                    .putAll(RENEWING, LIVE, BROKEN, IMMUTABLE, DROPPED)
                    .putAll(IDLE, REOPENING, OPENING, DROPPED)
                    .putAll(REOPENING, LIVE, BROKEN, IMMUTABLE, OPENING, DROPPED)
                    .putAll(IMMUTABLE, OPENING, DROPPED)
                    .build();

    /** The {@link #freshness} of a watch that was reopened, but is still {@link #BROKEN}. */
    static final String RESUMED = "watch reopened, not confirmed yet";

    /** The state as text for people, for {@link ObjectState#freshness}. */
    final String freshness;

    WatchState(String freshness) {
        this.freshness = freshness;
    }

    /** Returns the cache state for the known answer in this state. */
    CacheState cacheState(@Nullable Answer<?> known) {
        return switch (this) {
            case OPENING -> CacheState.NOT_SYNCED;
            case LIVE, IMMUTABLE -> Answer.cacheStateOf(known);
            case BROKEN, RENEWING, IDLE, REOPENING ->
                known instanceof Answer.Present ? CacheState.STALE : Answer.cacheStateOf(known);
            case DROPPED -> CacheState.UNREAD;
        };
    }

    /** Returns {@code next}; throws if the transition is not allowed, which is a bug. */
    WatchState to(WatchState next) {
        if (!TRANSITIONS.containsEntry(this, next)) {
            throw new IllegalStateException("illegal transition of a watch from " + this + " to " + next);
        }
        return next;
    }

    /** Returns whether a watch exists, or should exist, in this state. */
    boolean wantsWatch() {
        return isOpening() || this == LIVE || this == BROKEN;
    }

    /** Returns whether gets wait in this state. */
    boolean isOpening() {
        return this == OPENING || this == RENEWING || this == REOPENING;
    }

    /** Returns whether the known answer is up to date in this state. */
    boolean isUpToDate() {
        return this == LIVE || this == IMMUTABLE;
    }

    /** Returns whether entering this state begins a new epoch, which needs a list that began in it. */
    boolean beginsEpoch() {
        return this == OPENING || this == RENEWING;
    }
}
