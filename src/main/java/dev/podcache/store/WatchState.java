package dev.podcache.store;

import com.google.common.collect.ImmutableSetMultimap;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectState;
import org.jspecify.annotations.Nullable;

/** The state of the watch of one object. */
enum WatchState {
    /*
     * State      answer         list or event  confirmed  resumed    attempt fails    not read       new reference
     * -----------------------------------------------------------------------------------------------------------------
     * OPENING    none           pending        LIVE       BROKEN     keep failure     -              joins
     * LIVE       current        published      -          -          BROKEN           IDLE, pending  joins
     * BROKEN     last known     published      LIVE       note it    keep failure     -              RENEWING
     * RENEWING   none, pending  pending        LIVE       BROKEN     keep failure     -              joins
     * IDLE       none, pending  -              -          -          -                -              OPENING, clears
     * REOPENING  none, pending  pending        LIVE       BROKEN     BROKEN           -              OPENING, clears
     * UNWATCHED  the object     -              -          -          -                -              OPENING, clears
     * EVICTED    none           LIVE           -          -          OPENING          IDLE           joins; OPENING
     *                                                                                                without a watch
     *
     * "Confirmed" and "resumed" are connected() and resumed() of the reflector. A move to LIVE or BROKEN publishes the
     * pending answer. In BROKEN, the answer is published without a hit: gets find it at once and count it as served
     * stale.
     *
     * A get that finds no answer moves IDLE to REOPENING, or to OPENING if nothing is known. In EVICTED it has the object
     * read once, for all gets that wait, and the watch stays open: what is read, or an event that comes before, moves to
     * LIVE; a failure of the read moves nowhere. Without a watch (an immutable object), or if the read brings something
     * older than what was evicted, the get moves EVICTED to OPENING. In the three opening states and in EVICTED it waits
     * for the next change of state. A get that has waited for the first-sync timeout moves REOPENING and RENEWING to
     * BROKEN, so that later gets do not wait. If an object is immutable, or all its references are Unfollowed, a list or
     * event moves any state with a watch to UNWATCHED, which closes the watch. There is one exception: a reference has
     * joined the watch. What was received may be older than that reference. An immutable object is then watched on, as any
     * other. If all its references are Unfollowed, another watch is opened, which lists the object once more: LIVE, BROKEN
     * and EVICTED move to RENEWING; the opening states stay.
     *
     * A quorum read that returns a newer object is published. There is one exception: in UNWATCHED, with a reference that
     * is not Unfollowed, the known object is immutable. A newer one that is not immutable has taken its place, and its
     * changes are needed, so it moves to OPENING. A read that disagrees with LIVE or UNWATCHED on whether the object exists
     * moves to OPENING, too: neither is known to be the later one. For the same reason, one that disagrees with BROKEN is
     * published, and another watch is opened, which lists the object once more. In OPENING, after a failed attempt, one
     * that began after the last new reference moves to BROKEN, with another watch if it disagrees with what is pending, or
     * something was evicted. In EVICTED, one that is not older than what was evicted moves to LIVE.
     *
     * An eviction drops what is held, published or pending. It moves LIVE and UNWATCHED to EVICTED; BROKEN, RENEWING
     * and REOPENING to OPENING, with the same watch; and leaves OPENING and IDLE. So something is known in every state
     * but OPENING, IDLE and EVICTED. In OPENING, "confirmed" without a pending answer moves to EVICTED, and "resumed"
     * does nothing: a list follows.
     *
     * The answer that gets see without the lock is null in exactly the states OPENING, RENEWING, IDLE, REOPENING and
     * EVICTED. Gets that wait are handed the answer that they waited for, because it may be evicted before they look.
     * This includes an answer that is evicted in OPENING, unless an attempt has failed since the watch was confirmed.
     */

    /** The watch is being opened for the first time in this epoch. There is no answer, gets wait. */
    OPENING("watch being opened"),
    /** Listed and watched. The answer is up to date. */
    LIVE("watched"),
    /** The watch was lost, or was reopened but is not confirmed yet. The known answer is returned as stale. */
    BROKEN("watch lost, being reopened"),
    /** A watch is being reopened for a new reference. Gets wait, through failures. */
    RENEWING("watch being reopened for a new reference"),
    /** The watch was closed because the object was not read for long. */
    IDLE("watch closed because the object was not read; the next get reopens it"),
    /** The watch of an idle object is being reopened for a get. Gets wait until the first failure. */
    REOPENING("watch being reopened"),
    /**
     * The watch was closed because the object is immutable, or because every reference to it is {@link Unfollowed}. The
     * object is returned from memory until a new reference.
     */
    UNWATCHED("not watched: immutable, or read once for each reference"),
    /**
     * The payload was dropped to save memory. The watch is open and up to date; an immutable object has none. The next
     * get reads the object again.
     */
    EVICTED("evicted by payloadBudget; the next get reads the object again"),
    /** The object is no longer referenced. */
    DROPPED("not referenced");

    private static final ImmutableSetMultimap<WatchState, WatchState> TRANSITIONS =
            ImmutableSetMultimap.<WatchState, WatchState>builder()
                    .putAll(OPENING, LIVE, BROKEN, UNWATCHED, EVICTED, DROPPED)
                    .putAll(LIVE, BROKEN, RENEWING, IDLE, UNWATCHED, EVICTED, OPENING, DROPPED)
                    .putAll(BROKEN, LIVE, RENEWING, UNWATCHED, OPENING, DROPPED)
                    .putAll(RENEWING, LIVE, BROKEN, UNWATCHED, OPENING, DROPPED)
                    .putAll(IDLE, REOPENING, OPENING, DROPPED)
                    .putAll(REOPENING, LIVE, BROKEN, UNWATCHED, OPENING, DROPPED)
                    .putAll(UNWATCHED, OPENING, EVICTED, DROPPED)
                    .putAll(EVICTED, LIVE, RENEWING, UNWATCHED, OPENING, IDLE, DROPPED)
                    .build();

    /** The {@link #freshness} of a watch that was reopened, but is still {@link #BROKEN}. */
    static final String RESUMED = "watch reopened, not confirmed yet";

    /** The freshness of an object that was refused, but whose reference is new. */
    static final String AWAITS_ACCESS = "not allowed yet; asked again soon, because access follows references";

    /** The freshness of an object that was refused although access had time to follow its reference. */
    static final String REFUSED = "not allowed; asked again by each get, and after growing pauses";

    /** The freshness of an object whose watch was closed because our access was revoked. */
    static final String REVOKED = "access was revoked, so its watch was closed; asked again after growing pauses";

    /** The same if the watch was that of the namespace, and the object is refused by name too. */
    static final String NAMESPACE_REVOKED =
            "access was revoked, so the watch of its namespace was closed; asked again by name after growing pauses";

    /** The state as text for people, for {@link ObjectState#freshness}. */
    final String freshness;

    WatchState(String freshness) {
        this.freshness = freshness;
    }

    /** Returns the cache state for the known answer in this state. */
    CacheState cacheState(@Nullable Answer<?> known) {
        return switch (this) {
            case OPENING -> CacheState.NOT_SYNCED;
            case LIVE, UNWATCHED -> Answer.cacheStateOf(known);
            case BROKEN, RENEWING, IDLE, REOPENING ->
                known instanceof Answer.Present ? CacheState.STALE : Answer.cacheStateOf(known);
            case EVICTED, DROPPED -> CacheState.UNREAD;
        };
    }

    /** Returns {@code next}; throws if the transition is not allowed, which is a bug. */
    WatchState to(WatchState next) {
        if (!TRANSITIONS.containsEntry(this, next)) {
            throw new IllegalStateException("illegal transition of a watch from " + this + " to " + next);
        }
        return next;
    }

    /** Returns whether a watch is opened in this state if there is none. */
    boolean opensWatch() {
        return isOpening() || this == LIVE || this == BROKEN;
    }

    /** Returns whether the watch, if there is one, is closed in this state. */
    boolean closesWatch() {
        return this == IDLE || this == UNWATCHED || this == DROPPED;
    }

    /** Returns whether gets wait in this state. */
    boolean isOpening() {
        return this == OPENING || this == RENEWING || this == REOPENING;
    }

    /** Returns whether the known answer is up to date in this state. */
    boolean isUpToDate() {
        return this == LIVE || this == UNWATCHED || this == EVICTED;
    }
}
