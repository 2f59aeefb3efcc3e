package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** An entry that is kept fresh by a watch. The state table is in {@link WatchState}. */
final class WatchEntry<T extends HasMetadata> extends Entry<T> {

    private final WatchObjectStore<T> store;
    private WatchState state = WatchState.OPENING; // guarded by this, like all that follows
    private final CurrentWatch<T> watch = new CurrentWatch<>();
    private @Nullable Answer<T> pendingAnswer;
    private @Nullable ApiServerException lastFailure;
    private boolean resumed; // in BROKEN: the watch is open again
    private boolean getWaits;
    private long stateBegin;
    private long upToDateUntil; // when the known answer was last up to date; not valid in LIVE
    private byte unreadSweeps; // at most 2

    WatchEntry(ObjectKey key, WatchObjectStore<T> store) {
        super(key, store.transitions);
        this.store = store;
        this.stateBegin = now();
    }

    WatchLookup<T> lookup() {
        WatchLookup<T> lookup;
        synchronized (this) {
            reopenLocked();
            Answer<T> known = answer();
            getWaits = state.isOpening();
            var change = known == null ? watch.futureLocked(this, now()) : null;
            lookup = new WatchLookup<>(isDroppedLocked(), known, !state.isUpToDate(), lastFailure, change);
        }
        runDeferred();
        return lookup;
    }

    /**
     * Returns the answer for a get that has waited for the first-sync timeout; null if there is none: an object that
     * was listed for the first time is not returned before its watch is accepted, because no event would outdate it.
     */
    @Nullable
    Answer<T> answerAfterTimeout() {
        Answer<T> known;
        synchronized (this) {
            if (state == WatchState.REOPENING || state == WatchState.RENEWING) {
                publishLocked(WatchState.BROKEN);
            }
            known = answer();
        }
        changed();
        return known;
    }

    /** Receives an answer. Without an {@code eventVersion} it is that of a list, which counts whatever its version is. */
    void received(ObjectWatch<T> from, Answer<T> answer, String eventVersion) {
        synchronized (this) {
            if (!watch.is(from) || Answer.isAheadOf(answer(), eventVersion)) {
                return;
            }
            upToDateUntil = now();
            Answer<T> after = Answer.sharing(heldLocked(), answer);
            boolean isRead = after instanceof Answer.Present && !isFollowedLocked();
            if (isRead && watch.isJoined() && state.isOpening()) {
                // the list may have begun before the last reference, and no event would follow
                watch.endLocked(this);
            } else if (Answer.isImmutable(after) || (isRead && !watch.isJoined())) {
                pendingAnswer = after;
                syncedLocked();
                publishLocked(WatchState.UNWATCHED);
            } else if (state.isOpening() || state == WatchState.EVICTED) {
                pendingAnswer = after;
                if (state == WatchState.EVICTED) {
                    publishLocked(WatchState.LIVE);
                }
            } else {
                setAnswerLocked(after, state.isUpToDate());
            }
        }
        changed();
    }

    void upToDate(ObjectWatch<T> from) {
        synchronized (this) {
            if (!watch.is(from) || state == WatchState.LIVE || state == WatchState.EVICTED) {
                return;
            }
            syncedLocked();
            publishLocked(heldLocked() == null ? WatchState.EVICTED : WatchState.LIVE);
        }
        changed();
    }

    void unconfirmed(ObjectWatch<T> from) {
        synchronized (this) {
            if (!watch.is(from) || heldLocked() == null) {
                return;
            } else if (state != WatchState.BROKEN) {
                publishLocked(WatchState.BROKEN);
            }
            resumed = true;
        }
        changed();
    }

    void failed(ObjectWatch<T> from, ApiServerException cause) {
        boolean first;
        synchronized (this) {
            if (!watch.is(from)) {
                return;
            }
            first = lastFailure == null;
            lastFailure = cause;
            resumed = false;
            if (state == WatchState.LIVE || state == WatchState.REOPENING) {
                publishLocked(WatchState.BROKEN);
            } else if (state == WatchState.EVICTED) {
                moveLocked(WatchState.OPENING);
            }
        }
        changed();
        store.failed(key, cause, first);
    }

    /** Takes over a quorum read, which may be ahead of the watch. */
    void readLatest(Answer<T> read) {
        synchronized (this) {
            Answer<T> known = heldLocked();
            boolean disagree = known != null && Answer.cacheStateOf(known) != Answer.cacheStateOf(read);
            if (Answer.isNewer(read, known) && pendingAnswer != null) {
                pendingAnswer = read;
            } else if (Answer.isNewer(read, known) || (disagree && state == WatchState.BROKEN)) {
                setAnswerLocked(read, state.isUpToDate());
            } else if (disagree && state.isUpToDate()) {
                restartLocked(WatchState.OPENING);
                setAnswerLocked(null);
            } else {
                return;
            }
        }
        changed();
    }

    @Override
    @Nullable
    Answer<T> heldLocked() {
        return pendingAnswer == null ? answer() : pendingAnswer;
    }

    /** In state OPENING a listed object is not known yet: its watch may still be refused. */
    @Override
    @Nullable
    Answer<T> latestLocked() {
        return state == WatchState.OPENING ? null : heldLocked();
    }

    /** A watch that is opened for the first time, or again after an eviction, is not lost until it fails. */
    @Override
    boolean isStaleLocked() {
        return state == WatchState.OPENING ? lastFailure != null : !state.isUpToDate();
    }

    @Override
    void onEvictLocked() {
        Answer<T> evicted = heldLocked();
        pendingAnswer = null;
        switch (state) {
            case LIVE, UNWATCHED -> moveLocked(WatchState.EVICTED);
            case BROKEN, RENEWING, REOPENING -> moveLocked(WatchState.OPENING);
            // just listed: waiting gets would list again, and that answer might be evicted too
            case OPENING -> watch.wakeLocked(this, lastFailure == null ? evicted : null);
            default -> {}
        }
    }

    @Override
    String connectionLocked() {
        return watch.connection();
    }

    /** Moves to a state in which gets find the known answer. */
    private void publishLocked(WatchState next) {
        Answer<T> known = heldLocked();
        moveLocked(next);
        setAnswerLocked(known, next.isUpToDate());
    }

    /** Closes the watch if this is the second sweep in a row that finds the object unread; opens it for a listener. */
    void sweep() {
        synchronized (this) {
            boolean observed = store.transitions.isObserved();
            unreadSweeps = (byte) (takeTouched() || observed ? 0 : Math.min(2, unreadSweeps + 1));
            if (state == WatchState.IDLE && observed) {
                reopenLocked();
            } else if ((state == WatchState.LIVE || state == WatchState.EVICTED) && unreadSweeps >= 2) {
                Answer<T> known = answer();
                moveLocked(WatchState.IDLE);
                pendingAnswer = known;
                setAnswerLocked(null);
            } else {
                return;
            }
        }
        changed();
    }

    /** Records that the known answer is up to date. Called before the move that follows from it. */
    private void syncedLocked() {
        lastFailure = null;
        touched = true;
        if (state != WatchState.LIVE) {
            Duration took = Duration.ofNanos(now() - stateBegin);
            deferLocked(() -> store.options.metrics().watchSynced(store.kind, key, took));
        }
    }

    /** Opens a closed watch again, and has an evicted object listed again. */
    private void reopenLocked() {
        if (state == WatchState.IDLE && pendingAnswer != null) {
            moveLocked(WatchState.REOPENING);
        } else if (state == WatchState.IDLE || state == WatchState.EVICTED) {
            restartLocked(WatchState.OPENING);
        }
    }

    /** Begins a new epoch, which needs a list that began in it. */
    private void restartLocked(WatchState next) {
        watch.endLocked(this);
        moveLocked(next);
    }

    /** Moves to {@code next}, closes the watch if {@code next} needs none, and wakes the waiting gets. */
    private void moveLocked(WatchState next) {
        Answer<T> known = heldLocked();
        stateBegin = now();
        upToDateUntil = state == WatchState.LIVE ? stateBegin : upToDateUntil;
        state = state.to(next);
        resumed = false;
        if (next != WatchState.REOPENING) {
            pendingAnswer = null;
        }
        if (next.closesWatch()) {
            watch.endLocked(this);
        }
        watch.wakeLocked(this, next.isUpToDate() ? known : null);
    }

    @Override
    boolean beginsEpochLocked() {
        switch (state) {
            case IDLE, UNWATCHED, REOPENING -> restartLocked(WatchState.OPENING);
            case BROKEN -> {
                Answer<T> known = answer();
                restartLocked(WatchState.RENEWING);
                pendingAnswer = known;
            }
            default -> {
                if (state == WatchState.EVICTED && watch.isNone()) {
                    restartLocked(WatchState.OPENING);
                    return true;
                }
                watch.joins();
                return false;
            }
        }
        return true;
    }

    @Override
    void onDropLocked() {
        moveLocked(WatchState.DROPPED);
    }

    @Override
    void afterChangeLocked() {
        if (state.opensWatch() && store.kind.isLegal(key)) {
            watch.openLocked(this, store);
        }
        watch.hurryLocked(this, getWaits);
        getWaits = false;
    }

    synchronized ObjectState state() {
        Answer<T> known = latestLocked();
        String version = known instanceof Answer.Present<T> present ? present.resourceVersion : "";
        boolean live = state == WatchState.LIVE;
        Duration age = known == null && !live ? null : Duration.ofNanos(live ? 0 : now() - upToDateUntil);
        String freshness = (resumed ? WatchState.RESUMED : state.freshness) + watch.note();
        return new ObjectState(state.cacheState(known), version, age, lastFailure, referencesLocked(), freshness);
    }

    private long now() {
        return store.options.timekeeper().nanoTime();
    }
}
