package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An entry that is kept fresh by a watch: the state table of strategy WATCH. */
final class WatchEntry<T extends HasMetadata> extends Entry<T> {

    /*
     * State      answer         list or event  confirmed  resumed    attempt fails    not read       new reference
     * -----------------------------------------------------------------------------------------------------------------
     * OPENING    none           pending        LIVE       BROKEN     keep failure     -              joins
     * LIVE       current        published      -          -          BROKEN           IDLE, pending  joins
     * BROKEN     last known     published      LIVE       note it    keep failure     -              RENEWING
     * RENEWING   none, pending  pending        LIVE       BROKEN     keep failure     -              joins
     * IDLE       none, pending  -              -          -          -                -              OPENING, clears
     * REOPENING  none, pending  pending        LIVE       BROKEN     BROKEN           -              OPENING, clears
     * IMMUTABLE  the object     -              -          -          -                -              OPENING, clears
     *
     * "Confirmed" and "resumed" are connected() and resumed() of the reflector. A move to LIVE or BROKEN publishes the
     * pending answer. In BROKEN, the answer is published without a hit: gets find it at once and count it as served
     * stale.
     *
     * A get that finds no answer moves IDLE to REOPENING, and in the three opening states waits for the next change of
     * state. A get that has waited for the first-sync timeout moves REOPENING and RENEWING to BROKEN, so that later
     * gets do not wait. An immutable object moves every state with a watch to IMMUTABLE, which closes the watch.
     *
     * The answer that gets see without the lock is null in exactly the states OPENING, RENEWING, IDLE and REOPENING.
     *
     * The external effects of a change (opening and closing watches, waking gets, calling metrics) are recorded in
     * `deferred` under the lock and run by afterChange() without it. A reflector that is being replaced may call once
     * more before it is closed; only calls of the current `session` count.
     */

    private final WatchObjectStore<T> store;
    private WatchState state = WatchState.OPENING; // guarded by this, like all that follows
    private @Nullable ObjectWatch<T> session;
    private @Nullable Answer<T> pendingAnswer;
    private @Nullable CompletableFuture<Void> change;
    private @Nullable ApiServerException lastFailure;
    private boolean resumed; // in BROKEN: the watch is open again
    private boolean getWaits;
    private long stateBegin;
    private long upToDateUntil; // when the known answer was last up to date; not valid in LIVE
    private int unreadSweeps;
    private @Nullable List<Runnable> deferred;

    WatchEntry(ObjectKey key, WatchObjectStore<T> store) {
        super(key, store.transitions);
        this.store = store;
        this.stateBegin = store.now();
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
            getWaits = state.isOpening();
            lookup = new WatchLookup<>(isDroppedLocked(), known, !state.isUpToDate(), lastFailure, change);
        }
        afterChange();
        return lookup;
    }

    /**
     * Returns the answer for a get that has waited for the first-sync timeout; null if there is none. Later gets return
     * the same answer at once, as stale, until the watch is live. An object that was listed for the first time is not
     * returned before its watch is accepted, because no event would show that it is outdated.
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

    synchronized @Nullable ApiServerException lastFailure() {
        return lastFailure;
    }

    void received(ObjectWatch<T> from, Answer<T> answer) {
        synchronized (this) {
            if (session != from) {
                return;
            }
            upToDateUntil = store.now();
            Answer<T> after = Answer.sharing(knownLocked(), answer);
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

    void upToDate(ObjectWatch<T> from) {
        synchronized (this) {
            if (session != from || state == WatchState.LIVE) {
                return;
            }
            syncedLocked();
            publishLocked(WatchState.LIVE);
        }
        changed();
    }

    void unconfirmed(ObjectWatch<T> from) {
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

    void failed(ObjectWatch<T> from, ApiServerException cause) {
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

    /** Moves to a state in which gets find the known answer. */
    private void publishLocked(WatchState next) {
        Answer<T> known = knownLocked();
        moveLocked(next);
        setAnswerLocked(known, Transitions.WATCHED, next.isUpToDate());
    }

    /** Closes the watch if this is the second sweep in a row that finds the object unread; opens it for a listener. */
    void sweep() {
        synchronized (this) {
            boolean observed = store.transitions.isObserved();
            unreadSweeps = touched || observed ? 0 : unreadSweeps + 1;
            touched = false;
            if (state == WatchState.IDLE && observed) {
                moveLocked(WatchState.REOPENING);
            } else if (state == WatchState.LIVE && unreadSweeps >= 2) {
                Answer<T> known = answer();
                moveLocked(WatchState.IDLE);
                pendingAnswer = known;
                setAnswerLocked(null, Transitions.IDLE);
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
            Duration took = Duration.ofNanos(store.now() - stateBegin);
            deferLocked(() -> store.options.metrics().watchSynced(store.kind, key, took));
        }
    }

    /**
     * Moves to {@code next}, closes the watch if {@code next} needs no watch or a new one, and wakes the waiting gets.
     */
    private void moveLocked(WatchState next) {
        stateBegin = store.now();
        upToDateUntil = state == WatchState.LIVE ? stateBegin : upToDateUntil;
        state = state.to(next);
        resumed = false;
        if (next != WatchState.REOPENING) {
            pendingAnswer = null;
        }
        ObjectWatch<T> ended = session;
        if ((next.beginsEpoch() || !next.wantsWatch()) && ended != null) {
            session = null;
            deferLocked(ended::close);
        }
        CompletableFuture<Void> awaited = change;
        if (awaited != null) {
            change = null;
            deferLocked(() -> awaited.complete(null));
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
    void onDropLocked() {
        moveLocked(WatchState.DROPPED);
    }

    @Override
    void afterChange() {
        List<Runnable> todo;
        synchronized (this) {
            if (state.wantsWatch() && (session == null || session.isOver()) && store.kind.isLegal(key)) {
                ObjectWatch<T> opened = store.watch(this);
                session = opened;
                deferLocked(opened::open);
            }
            if (getWaits && session != null) {
                deferLocked(session::hurry);
            }
            getWaits = false;
            todo = deferred;
            deferred = null;
        }
        if (todo != null) {
            todo.forEach(Runnable::run);
        }
    }

    private void deferLocked(Runnable task) {
        if (deferred == null) {
            deferred = new ArrayList<>(2);
        }
        deferred.add(task);
    }

    synchronized ObjectState state() {
        Answer<T> known = latestLocked();
        String version = known instanceof Answer.Present<T> present ? present.resourceVersion : "";
        Duration age = null;
        if (state == WatchState.LIVE) {
            age = Duration.ZERO;
        } else if (known != null) {
            age = Duration.ofNanos(store.now() - upToDateUntil);
        }
        String freshness = (resumed ? WatchState.RESUMED : state.freshness) + (session == null ? "" : session.note());
        return new ObjectState(state.cacheState(known), version, age, lastFailure, referencesLocked(), freshness);
    }
}
