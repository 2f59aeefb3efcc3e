package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An object kept fresh by a watch: the state table of strategy WATCH. */
final class WatchEntry<T extends HasMetadata> extends Entry<T> {

    /*
     * State      answer         a list, or an event     up to date      resumed       an attempt fails   not read       new reference
     * -------------------------------------------------------------------------------------------------------------------------------
     * OPENING    none           pending                 LIVE            BROKEN        says why           -              joins
     * LIVE       as the server  published               -               -             BROKEN             IDLE, pending  joins
     * BROKEN     last known     published               LIVE            says so       says why           -              RENEWING
     * RENEWING   none, pending  pending                 LIVE            BROKEN        says why           -              joins
     * IDLE       none, pending  -                       -               -             -                  -              OPENING, forgets
     * REOPENING  none, pending  pending                 LIVE            BROKEN        BROKEN             -              OPENING, forgets
     * IMMUTABLE  the object     -                       -               -             -                  -              OPENING, forgets
     *
     * "Up to date" and "resumed" are connected() and resumed() of the reflector. A move to LIVE or BROKEN publishes the
     * pending answer. What is BROKEN is published without a hit: gets find it at once, and count it as served stale.
     *
     * A get that finds no answer turns IDLE into REOPENING, and in the three opening states waits for the next change of
     * state. A get that waited for the first-sync timeout turns REOPENING and RENEWING into BROKEN, so that later gets do
     * not wait. An object that says it is immutable makes IMMUTABLE of any state with a watch, and ends the watch.
     *
     * The answer that gets see without the lock is null in exactly the states OPENING, RENEWING, IDLE and REOPENING.
     *
     * What a change entails outside (opening and closing watches, waking gets that wait, calling metrics) is recorded
     * in `afterwards` under the lock and done by unlocked() without it. A reflector that is being replaced may call
     * once more before it is closed; `session` tells whether a call still counts.
     */

    private final WatchObjectStore<T> store;
    private WatchState state = WatchState.OPENING; // guarded by this, like all that follows
    private @Nullable WatchSession<T> session;
    private @Nullable Answer<T> pendingAnswer;
    private @Nullable CompletableFuture<Void> change;
    private @Nullable ApiServerException lastFailure;
    private boolean resumed; // the watch is open again, though BROKEN
    private boolean hurried; // a get has begun to wait
    private long since;
    private long heardAt; // when what is known was last up to date, unless it still is
    private int sweepsUnread;
    private @Nullable List<Runnable> afterwards;

    WatchEntry(ObjectKey key, WatchObjectStore<T> store) {
        super(key, store.transitions);
        this.store = store;
        this.since = store.now();
    }

    /**
     * The result of a get that is not a hit.
     *
     * @param dropped the entry was dropped: look again
     * @param answer what to serve; null if the get has to wait for {@code change}
     * @param stale whether nothing confirms that the server still says so
     * @param change completed when there is reason to look again; null with an answer
     */
    record WatchLookup<T>(
            boolean dropped,
            @Nullable Answer<T> answer,
            boolean stale,
            @Nullable ApiServerException failure,
            @Nullable CompletableFuture<Void> change) {}

    /** Opens the watch again if it was closed because the object was not read. */
    void reopen() {
        synchronized (this) {
            if (state != WatchState.IDLE) {
                return;
            }
            moveLocked(WatchState.REOPENING);
        }
        unlocked();
    }

    WatchLookup<T> lookup() {
        WatchLookup<T> lookup;
        synchronized (this) {
            if (state == WatchState.IDLE) {
                moveLocked(WatchState.REOPENING);
            }
            Answer<T> known = answer();
            if (known == null && change == null) {
                change = new CompletableFuture<>();
            }
            hurried = state.isOpening();
            lookup = new WatchLookup<>(isDroppedLocked(), known, !state.isUpToDate(), lastFailure, change);
        }
        unlocked();
        return lookup;
    }

    /**
     * Returns what to serve to a get that has waited for the first-sync timeout; null if there is nothing. Later gets
     * are served the same at once, as stale, until the watch is live. An object that was listed for the first time is
     * not served before its watch is accepted: nothing would tell that it may be old.
     */
    @Nullable
    Answer<T> giveUp() {
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

    synchronized @Nullable ApiServerException lastFailure() {
        return lastFailure;
    }

    void heard(WatchSession<T> from, Answer<T> said) {
        synchronized (this) {
            if (session != from) {
                return;
            }
            heardAt = store.now();
            Answer<T> after = Answer.sharing(knownLocked(), said);
            if (after instanceof Answer.Present<T> present && present.immutable) {
                pendingAnswer = after;
                syncedLocked();
                publishLocked(WatchState.IMMUTABLE);
            } else if (state.isOpening()) {
                pendingAnswer = after;
                return;
            } else {
                setAnswerLocked(after, Transitions.WATCHED, state.isUpToDate());
            }
        }
        changed();
    }

    void upToDate(WatchSession<T> from) {
        synchronized (this) {
            if (session != from || state == WatchState.LIVE) {
                return;
            }
            syncedLocked();
            publishLocked(WatchState.LIVE);
        }
        changed();
    }

    void unconfirmed(WatchSession<T> from) {
        synchronized (this) {
            if (session != from) {
                return;
            }
            if (state != WatchState.BROKEN) {
                publishLocked(WatchState.BROKEN);
            }
            resumed = true;
        }
        changed();
    }

    void failed(WatchSession<T> from, ApiServerException cause) {
        boolean first;
        synchronized (this) {
            if (session != from) {
                return;
            }
            first = lastFailure == null;
            lastFailure = cause;
            resumed = false;
            if (state == WatchState.LIVE || state == WatchState.REOPENING) {
                publishLocked(WatchState.BROKEN);
            }
        }
        changed();
        store.failed(key, cause, first);
    }

    private @Nullable Answer<T> knownLocked() {
        return pendingAnswer == null ? answer() : pendingAnswer;
    }

    /** In state OPENING a listed object is not known yet: its watch may still be refused. */
    @Override
    @Nullable
    Answer<T> latestLocked() {
        return state == WatchState.OPENING ? null : knownLocked();
    }

    @Override
    boolean isStaleLocked() {
        return !state.isUpToDate();
    }

    /** Moves to a state in which gets find what is known. */
    private void publishLocked(WatchState next) {
        Answer<T> known = knownLocked();
        moveLocked(next);
        setAnswerLocked(known, Transitions.WATCHED, next.isUpToDate());
    }

    /** Closes the watch if the object was not read since the sweep before the last one. */
    void sweep() {
        synchronized (this) {
            sweepsUnread = touched ? 0 : sweepsUnread + 1;
            touched = false;
            if (state != WatchState.LIVE || sweepsUnread < 2 || store.transitions.isObserved()) {
                return;
            }
            Answer<T> known = answer();
            moveLocked(WatchState.IDLE);
            pendingAnswer = known;
            setAnswerLocked(null, Transitions.IDLE);
        }
        changed();
    }

    /** Notes that what is known is up to date. Called before the move that follows from it. */
    private void syncedLocked() {
        lastFailure = null;
        touched = true;
        if (state != WatchState.LIVE) {
            Duration took = Duration.ofNanos(store.now() - since);
            afterwardsLocked(() -> store.options.metrics().watchSynced(store.kind, key, took));
        }
    }

    /** Moves to {@code next}, closes the watch if that ends it, and wakes the gets that wait. */
    private void moveLocked(WatchState next) {
        since = store.now();
        heardAt = state == WatchState.LIVE ? since : heardAt;
        state = state.to(next);
        resumed = false;
        if (next != WatchState.REOPENING) {
            pendingAnswer = null;
        }
        WatchSession<T> ended = session;
        if ((next.beginsEpoch() || !next.wantsWatch()) && ended != null) {
            session = null;
            afterwardsLocked(ended.reflector::close);
        }
        CompletableFuture<Void> awaited = change;
        if (awaited != null) {
            change = null;
            afterwardsLocked(() -> awaited.complete(null));
        }
    }

    @Override
    boolean beginsEpochLocked() {
        switch (state) {
            case IDLE, IMMUTABLE, REOPENING -> moveLocked(WatchState.OPENING);
            case BROKEN -> {
                Answer<T> known = answer();
                moveLocked(WatchState.RENEWING);
                pendingAnswer = known;
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    @Override
    void droppedLocked() {
        moveLocked(WatchState.DROPPED);
    }

    @Override
    void unlocked() {
        List<Runnable> todo;
        synchronized (this) {
            if (state.wantsWatch() && session == null && store.kind.isLegal(key)) {
                WatchSession<T> opened = new WatchSession<>(this, store);
                session = opened;
                afterwardsLocked(opened::open);
            }
            if (hurried && session != null) {
                afterwardsLocked(session.reflector::hurry);
            }
            hurried = false;
            todo = afterwards;
            afterwards = null;
        }
        if (todo != null) {
            todo.forEach(Runnable::run);
        }
    }

    private void afterwardsLocked(Runnable task) {
        if (afterwards == null) {
            afterwards = new ArrayList<>(2);
        }
        afterwards.add(task);
    }

    synchronized ObjectState state() {
        Answer<T> known = latestLocked();
        String version = known instanceof Answer.Present<T> present ? present.resourceVersion : "";
        Duration age = null;
        if (state == WatchState.LIVE) {
            age = Duration.ZERO;
        } else if (known != null) {
            age = Duration.ofNanos(store.now() - heardAt);
        }
        String freshness = resumed ? WatchState.RESUMED : state.freshness;
        return new ObjectState(state.cacheState(known), version, age, lastFailure, referencesLocked(), freshness);
    }
}
