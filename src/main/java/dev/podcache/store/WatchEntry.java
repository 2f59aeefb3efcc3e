package dev.podcache.store;

import com.google.common.collect.Comparators;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ResourceVersions;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An entry that is kept fresh by a watch. The state table is in {@link WatchState}. */
final class WatchEntry<T extends HasMetadata> extends Entry<T> {

    /*
     * The monitor guards every field. While a watch is being replaced, the old one may report once more before it is
     * closed: only reports of `watch` count.
     *
     * What is held     where                 gets find it                  `pendingAnswer`
     * ----------------------------------------------------------------------------------------------------
     * published        answer() of Entry     without the lock, or as       null
     *                                        stale with it
     * pending          pendingAnswer         once the watch is accepted    the last answer of this epoch
     *
     * A get that finds nothing waits for `change`. That completes with each change of the state, and in OPENING and EVICTED
     * with each failed attempt. Until the list is written, the get looks now and then whether that has happened. It waits:
     *
     * State            the get waits until
     * ----------------------------------------------------------------------------------------------------
     * OPENING          the first-sync timeout after its begin, or after the list was written or answered if that is
     *                  later; if no attempt has failed yet and the list is not written, ten seconds after its begin;
     *                  if the object is refused, the next 403
     * RENEWING,        the first-sync timeout after its begin
     * REOPENING
     * EVICTED          the same, or the first 403
     *
     * `refusals` counts the 403s of a new reference, see EarlyRefusals: access may follow the reference. An object is
     * refused after that. A get of a refused object has the failed attempt repeated at once, but not within 250 ms of
     * the last; a get within that time fails with the last 403.
     *
     * The external effects of a change (opening and closing watches, waking gets, calling metrics) are recorded in
     * `deferred` under the lock and run by runDeferred() without it. The change has been made by then, so an effect that
     * throws is logged: neither the other effects nor the caller, who could not undo the change, may depend on it.
     */

    private static final Logger log = LoggerFactory.getLogger(Store.class);

    /** The shortest time between an attempt that was refused, and one that a get asks for. */
    private static final long ASK_PAUSE = Duration.ofMillis(250).toNanos();

    /** Instead of a number of refusals: the object was read since its last new reference, or was refused for too long. */
    private static final int NOT_EARLY = -1;

    /** The longest that a get waits for a connection to the server: name lookup, TLS, credentials, class loading. */
    private static final Duration REACH_TIMEOUT = Duration.ofSeconds(10);

    /** How often a get looks whether the list is written, if the first-sync timeout is shorter. */
    private static final long SHORTEST_LOOK = Duration.ofMillis(100).toNanos();

    /** Gets that have given up must not pile up in one future. */
    private static final long LONGEST_CHANGE = Duration.ofSeconds(10).toNanos();

    private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);

    private final WatchObjectStore<T> store;
    private WatchState state = WatchState.OPENING; // guarded by this, like all that follows
    private @Nullable Answer<T> pendingAnswer;
    private @Nullable ApiServerException lastFailure;
    private long failedAt; // of lastFailure
    private int refusals; // since the last new reference, or NOT_EARLY
    private long refusedSince; // the first of these refusals; not valid without any
    private boolean revoked; // the watch was closed because we may not watch the object any more
    private boolean namespaceRevoked; // that of the namespace was, and nothing was read by name since
    private boolean resumed; // in BROKEN: the watch is open again
    private boolean getWaits;
    private long stateBegin;
    private long upToDateUntil; // when what was known was last confirmed; not valid in LIVE
    private byte unreadSweeps; // at most 2
    private int epoch; // the number of references after the first

    private @Nullable ObjectWatch watch;
    private boolean joined; // whether a reference was added since the watch was opened
    private boolean reached; // whether the list of the watch was written to the server
    private long reachedAt; // when it was written, or answered
    private boolean reading; // whether the watch reads the evicted object
    private String coveredUpTo = ""; // events up to this version are older than what was held or read before
    private @Nullable Change<T> change; // null if no get waits
    private @Nullable List<Runnable> deferred;

    /** Completes with the next change. */
    private static final class Change<T> extends CompletableFuture<@Nullable Answer<T>> {

        private final long madeAt;

        Change(long madeAt) {
            this.madeAt = madeAt;
        }
    }

    /**
     * What a get finds that is not a hit.
     *
     * @param dropped whether the entry was dropped, so the caller must look again
     * @param answer the answer to return; null if the get has to wait, or fails
     * @param stale whether the answer is unconfirmed
     * @param failure the last failure: why the answer is stale, or why the get fails
     * @param change completes with the current answer, or with null when the caller should look again; null if the get
     *     need not wait any longer
     * @param until when the caller should look again at the latest
     * @param reached whether the list was written to the server, or has failed
     */
    record WatchLookup<T>(
            boolean dropped,
            @Nullable Answer<T> answer,
            boolean stale,
            @Nullable ApiServerException failure,
            @Nullable CompletableFuture<@Nullable Answer<T>> change,
            long until,
            boolean reached) {}

    WatchEntry(ObjectKey key, WatchObjectStore<T> store) {
        super(key, store.transitions);
        this.store = store;
        this.stateBegin = now();
    }

    // gets

    /**
     * Looks up what is known for a get, and opens or asks what it needs.
     *
     * @param begun when the get began
     * @param firstLook whether the get has not looked before: then it may wait although its time is over
     */
    WatchLookup<T> lookup(long begun, boolean firstLook) {
        WatchLookup<T> lookup;
        synchronized (this) {
            reopenLocked();
            Answer<T> known = answer();
            getWaits = state.isOpening();
            lookup = known != null || isDroppedLocked()
                    ? new WatchLookup<>(isDroppedLocked(), known, !state.isUpToDate(), lastFailure, null, begun, true)
                    : waitLocked(begun, firstLook, now());
        }
        runDeferred();
        return lookup;
    }

    private WatchLookup<T> waitLocked(long begun, boolean firstLook, long now) {
        boolean told = wasToldLocked(begun, now);
        boolean reachedOrFailed = state != WatchState.OPENING || reached || lastFailure != null;
        long left = deadlineLocked(begun, reachedOrFailed) - now;
        CompletableFuture<@Nullable Answer<T>> awaited = null;
        if (!told && (left > 0 || firstLook)) {
            awaited = futureLocked(now);
            if (state == WatchState.EVICTED) {
                left = Math.min(left, readLocked(now));
            } else if (isRefusedLocked()) {
                retryLocked();
            } else if (!reachedOrFailed) {
                left = Math.min(left, Math.max(firstSync(), SHORTEST_LOOK));
            }
        }
        return new WatchLookup<>(false, null, true, lastFailure, awaited, now + left, reachedOrFailed);
    }

    /** Returns whether a get that began then has its answer: a 403 that came after it began, or was just before. */
    private boolean wasToldLocked(long begun, long now) {
        return (isRefusedLocked() || (state == WatchState.EVICTED && isForbidden(lastFailure)))
                && (now - failedAt < ASK_PAUSE || failedAt - begun >= 0);
    }

    private boolean isRefusedLocked() {
        return state == WatchState.OPENING && isForbidden(lastFailure) && refusals == NOT_EARLY;
    }

    private long deadlineLocked(long begun, boolean reachedOrFailed) {
        long firstSync = firstSync();
        if (reachedOrFailed || firstSync == 0) {
            boolean late = state == WatchState.OPENING && lastFailure == null && reached && reachedAt - begun > 0;
            return (late ? reachedAt : begun) + firstSync;
        }
        // while the server fails, the first attempt of an object waits until it is back
        boolean fails = store.options.recovery().isFailing();
        return begun + (fails ? firstSync : timeToReach(store.times).toNanos());
    }

    /** Returns the longest that a get waits for the first list to be written to the server. */
    static Duration timeToReach(WatchObjectStore.WatchTimes times) {
        return Comparators.max(times.firstSync(), REACH_TIMEOUT);
    }

    private long firstSync() {
        return store.times.firstSync().toNanos();
    }

    /** Has the evicted object read, unless it is being read. Returns how long to wait before the next look at it. */
    private long readLocked(long now) {
        ObjectWatch reader = watch;
        if (reading || reader == null) {
            return Long.MAX_VALUE;
        }
        if (lastFailure != null) {
            Duration asked = Retries.askedPause(lastFailure);
            long pause = failedAt + Math.max(ASK_PAUSE, asked.toNanos()) - now;
            if (pause > 0) {
                return pause;
            }
        }
        reading = true;
        deferLocked(() -> read(reader));
        return Long.MAX_VALUE;
    }

    private void read(ObjectWatch reader) {
        try {
            reader.read();
        } catch (RuntimeException | Error e) {
            rereadFailed(reader, NoAnswer.thrown("LIST " + store.kind + " " + key, e));
        }
    }

    private void retryLocked() {
        ObjectWatch failing = watch;
        if (failing != null && lastFailure != null && !Retries.asksForPause(lastFailure)) {
            deferLocked(failing::retry);
        }
    }

    /** Opens a watch that was closed because nobody read the object. Returns what gets are answered with now. */
    @Nullable
    Answer<T> reopen() {
        Answer<T> known;
        synchronized (this) {
            reopenLocked();
            getWaits = state.isOpening();
            known = answer();
        }
        runDeferred();
        return known;
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

    // reports of the watch

    /** Records that the list of the watch was written to the server. */
    synchronized void listWritten(ObjectWatch from) {
        if (watch == from) {
            // gets are not woken: the answer may be there, and evicted, before they wait again
            reachedLocked();
        }
    }

    private void reachedLocked() {
        reached = true;
        reachedAt = now();
    }

    /** Receives an answer. Without an {@code eventVersion} it is that of a list, which counts whatever its version is. */
    void received(ObjectWatch from, Answer<T> answer, String eventVersion) {
        synchronized (this) {
            if (watch != from
                    || Answer.isAheadOf(answer(), eventVersion)
                    || ResourceVersions.isOlder(eventVersion, coveredUpTo)) {
                return;
            }
            coveredUpTo = eventVersion.isEmpty() ? "" : coveredUpTo;
            // an event of a watch that is not confirmed may be the first of those that were missed, and old
            receivedLocked(answer, eventVersion.isEmpty() || state.isUpToDate());
        }
        changed();
    }

    private void receivedLocked(Answer<T> answer, boolean isUpToDate) {
        reachedLocked();
        upToDateUntil = isUpToDate ? reachedAt : upToDateUntil;
        Answer<T> after = Answer.sharing(heldLocked(), answer);
        boolean readOnce = after instanceof Answer.Present && !isFollowedLocked();
        // it may be older than the last reference: then the events that follow are needed
        boolean immutable = Answer.isImmutable(after) && !joined;
        if (readOnce && joined) {
            // it may be older than the last reference, and no event would follow: it is listed once more
            if (!state.isOpening()) {
                moveLocked(WatchState.RENEWING);
                pendingAnswer = after;
                setAnswerLocked(null);
            }
            endWatchLocked();
        } else if (immutable || readOnce) {
            pendingAnswer = after;
            syncedLocked();
            publishLocked(WatchState.UNWATCHED);
        } else if (state == WatchState.EVICTED) {
            pendingAnswer = after;
            lastFailure = null;
            publishLocked(WatchState.LIVE);
        } else if (state.isOpening()) {
            pendingAnswer = after;
        } else {
            setAnswerLocked(after, state.isUpToDate());
        }
    }

    /**
     * Receives what {@link ObjectWatch#read} has brought.
     *
     * @param upTo the version that it covers; empty if it is not known
     */
    void reread(ObjectWatch from, Answer<T> answer, String upTo) {
        synchronized (this) {
            if (watch != from) {
                return;
            }
            reading = false;
            if (state != WatchState.EVICTED) {
                return;
            }
            if (upTo.isEmpty() || ResourceVersions.isOlder(upTo, coveredUpTo)) {
                // events that follow could not be told from older ones, or the read is older than what gets had
                restartLocked(WatchState.OPENING);
            } else {
                coveredUpTo = upTo;
                receivedLocked(answer, true);
            }
        }
        changed();
    }

    /** Records that {@link ObjectWatch#read} has failed. The watch is still open: the next get reads again. */
    void rereadFailed(ObjectWatch from, ApiServerException cause) {
        synchronized (this) {
            if (watch != from) {
                return;
            }
            reading = false;
            if (state != WatchState.EVICTED) {
                return;
            }
            failedLocked(cause);
            wakeLocked(null);
        }
        changed();
    }

    void upToDate(ObjectWatch from) {
        synchronized (this) {
            if (watch != from || state == WatchState.LIVE || state == WatchState.EVICTED) {
                return;
            }
            syncedLocked();
            publishLocked(heldLocked() == null ? WatchState.EVICTED : WatchState.LIVE);
        }
        changed();
    }

    void unconfirmed(ObjectWatch from) {
        synchronized (this) {
            if (watch != from || heldLocked() == null) {
                return;
            } else if (state != WatchState.BROKEN) {
                publishLocked(WatchState.BROKEN);
            }
            resumed = true;
        }
        changed();
    }

    void failed(ObjectWatch from, ApiServerException cause) {
        failed(from, cause, false);
    }

    private void failed(ObjectWatch from, ApiServerException cause, boolean ofNamespace) {
        boolean first;
        synchronized (this) {
            if (watch != from) {
                return;
            }
            boolean early = refusals != NOT_EARLY
                    && isForbidden(cause)
                    && earlyRefusals().grantsFollow();
            first = lastFailure == null;
            failedLocked(cause);
            if (early) {
                // worth a warning only once access is not awaited any more
                first = refusals == NOT_EARLY;
            }
            resumed = false;
            revoked |= namespaceRevoked && isForbidden(cause);
            namespaceRevoked |= ofNamespace;
            if (state == WatchState.LIVE || state == WatchState.REOPENING) {
                publishLocked(WatchState.BROKEN);
            } else if (state == WatchState.EVICTED) {
                moveLocked(WatchState.OPENING);
            } else if (state == WatchState.OPENING) {
                wakeLocked(null);
            }
        }
        changed();
        store.failed(key, cause, first);
    }

    /** Returns what the watch of this object selects: the object, or all of its namespace; null without a watch. */
    synchronized @Nullable ObjectKey watchedBy() {
        ObjectWatch open = watch;
        if (open == null || open.isOver()) {
            return null;
        }
        return open instanceof NamespaceWatch.Member ? ObjectKey.of(key.namespace(), "") : key;
    }

    /** Replaces the watch of this object by another one, which the API server is going to refuse. */
    void revoked(ApiServerException cause) {
        boolean first;
        synchronized (this) {
            if (isDroppedLocked() || watch == null) {
                return;
            }
            switch (state) {
                case LIVE -> {
                    endWatchLocked();
                    publishLocked(WatchState.BROKEN);
                }
                case BROKEN -> endWatchLocked();
                case EVICTED -> {
                    endWatchLocked();
                    moveLocked(WatchState.OPENING);
                }
                default -> {
                    // it is being opened: the API server refuses that itself
                    return;
                }
            }
            first = lastFailure == null;
            failedLocked(cause);
            revoked = true;
        }
        changed();
        store.failed(key, cause, first);
    }

    /**
     * Records that the watch of the namespace was closed, because we may not watch the namespace any more. Whether we may watch
     * the object, its own watch finds out, which follows.
     */
    void namespaceRevoked(ObjectWatch from, ApiServerException cause) {
        failed(from, cause, true);
    }

    private void failedLocked(ApiServerException cause) {
        failedAt = now();
        lastFailure = cause;
        if (isForbidden(cause) && refusals != NOT_EARLY) {
            refusedSince = refusals == 0 ? failedAt : refusedSince;
            refusals++;
            boolean over = failedAt - refusedSince >= earlyRefusals().window().toNanos();
            refusals = over ? NOT_EARLY : refusals;
        }
    }

    private EarlyRefusals earlyRefusals() {
        return store.options.earlyRefusals();
    }

    /** Returns whether the last attempt was refused, and access may still follow the reference. */
    private boolean awaitsAccessLocked() {
        return state.isOpening() && earlyRefusals().grantsFollow() && isForbidden(lastFailure) && refusals != NOT_EARLY;
    }

    /** Returns the pause after an attempt that was refused, or null if it is as after any failure. */
    private synchronized @Nullable Duration pauseAfterRefusal(ObjectWatch from) {
        boolean early = watch == from && refusals > 0 && isForbidden(lastFailure);
        return early
                ? EarlyRefusals.pause(
                        refusals,
                        Duration.ofNanos(failedAt - refusedSince),
                        earlyRefusals().window())
                : null;
    }

    private static boolean isForbidden(@Nullable ApiServerException failure) {
        return failure != null && failure.reason() == FailureReason.FORBIDDEN;
    }

    // quorum reads

    /** Returns a number that a new reference changes: a read that began before is not an answer after it. */
    synchronized int epoch() {
        return epoch;
    }

    /**
     * Takes over a quorum read, which may be ahead of the watch. Has a failed attempt of the watch repeated soon,
     * because the server answers.
     *
     * @param begunIn the {@link #epoch} in which the read began
     */
    void readLatest(Answer<T> read, int begunIn) {
        boolean changes;
        synchronized (this) {
            if (isDroppedLocked()) {
                return;
            }
            changes = takeLatestLocked(read, begunIn);
            // after that, because a watch that is replaced lists anyway
            retryLocked();
        }
        if (changes) {
            changed();
        } else {
            runDeferred();
        }
    }

    private boolean takeLatestLocked(Answer<T> read, int begunIn) {
        Answer<T> known = heldLocked();
        boolean disagree = known != null && Answer.cacheStateOf(known) != Answer.cacheStateOf(read);
        // what is followed and not watched was immutable: this is another object, whose changes are needed
        boolean replaced = state == WatchState.UNWATCHED
                && isFollowedLocked()
                && Answer.isNewer(read, known)
                && !Answer.isImmutable(read);
        if (state == WatchState.OPENING && lastFailure != null && begunIn == epoch) {
            // nothing confirms it, but there may be no other answer for long
            pendingAnswer = Answer.isNewer(known, read) ? known : read;
            upToDateUntil = now();
            publishLocked(WatchState.BROKEN);
            if (disagree || !coveredUpTo.isEmpty()) {
                // what the watch has brought, held or evicted, may be the later one: another watch lists the object
                // again
                endWatchLocked();
            }
        } else if (state == WatchState.EVICTED && read instanceof Answer.Present<T> present) {
            if (watch == null || ResourceVersions.isOlder(present.resourceVersion, coveredUpTo)) {
                return false;
            }
            coveredUpTo = present.resourceVersion;
            receivedLocked(read, true);
        } else if (replaced || (disagree && state.isUpToDate())) {
            restartLocked(WatchState.OPENING);
            setAnswerLocked(null);
        } else if (Answer.isNewer(read, known) && pendingAnswer != null) {
            pendingAnswer = read;
        } else if (Answer.isNewer(read, known)) {
            setAnswerLocked(read, state.isUpToDate());
        } else if (disagree && state == WatchState.BROKEN) {
            // neither is known to be the later one, and no event would tell: another watch lists the object again
            endWatchLocked();
            setAnswerLocked(read, false);
        } else {
            return false;
        }
        return true;
    }

    // state

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
        if (evicted instanceof Answer.Present<T> present
                && (coveredUpTo.isEmpty() || ResourceVersions.isOlder(coveredUpTo, present.resourceVersion))) {
            coveredUpTo = present.resourceVersion;
        }
        switch (state) {
            case LIVE, UNWATCHED -> moveLocked(WatchState.EVICTED);
            case BROKEN, RENEWING, REOPENING -> moveLocked(WatchState.OPENING);
            // just listed: waiting gets would list again, and that answer might be evicted too
            case OPENING -> wakeLocked(lastFailure == null ? evicted : null);
            default -> {}
        }
    }

    @Override
    String connectionLocked() {
        return watch == null ? "" : watch.connection();
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
        revoked = false;
        namespaceRevoked = false;
        refusals = NOT_EARLY;
        touched = true;
        if (state != WatchState.LIVE) {
            Duration took = Duration.ofNanos(now() - stateBegin);
            deferLocked(() -> store.options.metrics().watchSynced(store.kind, key, took));
        }
    }

    /** Opens a closed watch again. */
    private void reopenLocked() {
        if (state == WatchState.IDLE && pendingAnswer != null) {
            moveLocked(WatchState.REOPENING);
        } else if (state == WatchState.IDLE || (state == WatchState.EVICTED && watch == null)) {
            restartLocked(WatchState.OPENING);
        }
    }

    /** Begins a new epoch, which needs a list that began in it. */
    private void restartLocked(WatchState next) {
        moveLocked(next);
        endWatchLocked();
    }

    /** Moves to {@code next}, closes the watch if {@code next} needs none, and wakes the waiting gets. */
    private void moveLocked(WatchState next) {
        Answer<T> known = heldLocked();
        // first, because it may throw; not for a drop, which must not fail and needs no time
        stateBegin = next == WatchState.DROPPED ? stateBegin : now();
        upToDateUntil = state == WatchState.LIVE ? stateBegin : upToDateUntil;
        state = state.to(next);
        resumed = false;
        reading &= next.isUpToDate();
        if (next != WatchState.REOPENING) {
            pendingAnswer = null;
        }
        if (next.closesWatch()) {
            endWatchLocked();
        }
        wakeLocked(next.isUpToDate() ? known : null);
    }

    @Override
    boolean beginsEpochLocked() {
        epoch++;
        if (!state.isUpToDate()) {
            refusals = 0;
        }
        switch (state) {
            case IDLE, UNWATCHED, REOPENING -> restartLocked(WatchState.OPENING);
            case BROKEN -> {
                Answer<T> known = answer();
                restartLocked(WatchState.RENEWING);
                pendingAnswer = known;
            }
            default -> {
                if (state == WatchState.EVICTED && watch == null) {
                    restartLocked(WatchState.OPENING);
                    return true;
                }
                // what the watch has read may be older than the reference
                joined = watch != null;
                if (state == WatchState.OPENING && isForbidden(lastFailure)) {
                    // access may follow this reference
                    retryLocked();
                }
                return false;
            }
        }
        return true;
    }

    @Override
    void onDropLocked() {
        try {
            moveLocked(WatchState.DROPPED);
        } finally {
            endWatchLocked();
        }
    }

    /** Has {@code effect} run once the lock is released. */
    void deferLocked(Runnable effect) {
        if (deferred == null) {
            deferred = new ArrayList<>(2);
        }
        deferred.add(effect);
    }

    @Override
    void runDeferred() {
        List<Runnable> effects;
        synchronized (this) {
            afterChangeLocked();
            effects = deferred;
            deferred = null;
        }
        if (effects != null) {
            effects.forEach(this::runEffect);
        }
    }

    private void runEffect(Runnable effect) {
        try {
            effect.run();
        } catch (Throwable e) {
            log.error("a part of what follows a change of {} failed; the other parts follow; this is a bug", key, e);
        }
    }

    /** Defers the effects that a change requires, such as opening a watch. Called after each change. */
    private void afterChangeLocked() {
        if (state.opensWatch() && store.kind.isLegal(key)) {
            openWatchLocked();
        }
        if (watch != null && getWaits) {
            deferLocked(watch::hurry);
        }
        getWaits = false;
    }

    /** Has a watch opened, unless there is one. */
    private void openWatchLocked() {
        if (watch == null || watch.isOver()) {
            watch = store.watch(this);
            forgetWatchLocked();
            deferLocked(watch::open);
        }
    }

    /** Has the watch closed. */
    private void endWatchLocked() {
        if (watch != null) {
            deferLocked(watch::close);
            watch = null;
        }
        forgetWatchLocked();
    }

    private void forgetWatchLocked() {
        joined = false;
        reached = false;
        reading = false;
        resumed = false;
        coveredUpTo = "";
    }

    /**
     * Returns a future that completes with the next change, or after a while without one: in a long outage, gets that
     * have given up must not pile up in one future.
     */
    private CompletableFuture<@Nullable Answer<T>> futureLocked(long now) {
        if (change != null && now - change.madeAt > LONGEST_CHANGE) {
            wakeLocked(null);
        }
        if (change == null) {
            change = new Change<>(now);
        }
        return change;
    }

    /** Wakes the gets. Gives them the answer if it is not null, because it may be evicted before they look it up. */
    private void wakeLocked(@Nullable Answer<T> current) {
        CompletableFuture<@Nullable Answer<T>> awaited = change;
        if (awaited != null) {
            change = null;
            deferLocked(() -> awaited.complete(current));
        }
    }

    /** Returns what is known; null if this entry is dropped. */
    synchronized @Nullable KnownObject<T> known() {
        return isDroppedLocked() ? null : knownLocked(stateLocked());
    }

    synchronized ObjectState state() {
        return stateLocked();
    }

    private ObjectState stateLocked() {
        Answer<T> known = latestLocked();
        String version = known instanceof Answer.Present<T> present ? present.resourceVersion : "";
        boolean live = state == WatchState.LIVE;
        Duration age = known == null && !live ? null : Duration.ofNanos(live ? 0 : now() - upToDateUntil);
        String note = watch == null ? "" : watch.note();
        CacheState shown = state.cacheState(known);
        String freshness = (resumed ? WatchState.RESUMED : state.freshness) + note;
        if (shown == CacheState.NOT_SYNCED && earlyRefusals().grantsFollow() && isForbidden(lastFailure)) {
            boolean awaits = awaitsAccessLocked();
            shown = awaits ? CacheState.WAITING_FOR_ACCESS : CacheState.FORBIDDEN;
            freshness = (awaits ? WatchState.AWAITS_ACCESS : WatchState.REFUSED) + note;
        }
        if (revoked && isForbidden(lastFailure) && shown != CacheState.ABSENT) {
            shown = CacheState.FORBIDDEN;
            freshness = namespaceRevoked ? WatchState.NAMESPACE_REVOKED : WatchState.REVOKED + note;
        }
        return new ObjectState(shown, version, age, lastFailure, referencesLocked(), freshness);
    }

    private long now() {
        return store.options.timekeeper().nanoTime();
    }

    /** The list and watch of this object alone. Its reports come in steps of the reflector, but for the answer to a read. */
    final class OwnWatch implements ObjectWatch, ReflectorSink<T> {

        private final ListOrGet<T> server = store.listOrGet(key);
        private final Reflector<T> reflector = Reflector.ofOneObject(server, this, store.options.recovery());

        /** Begins on a worker: the thread that adds a reference must not wait for the network. */
        @Override
        public void open() {
            try {
                store.options.timekeeper().workers().execute(reflector::start);
            } catch (RuntimeException | Error e) {
                // nothing else would open it
                reflector.start();
            }
        }

        @Override
        public void hurry() {
            reflector.hurry();
        }

        @Override
        public void retry() {
            reflector.retry();
        }

        @Override
        public void read() {
            server.read(READ_TIMEOUT)
                    .thenAccept(listed -> reread(this, answerOf(listed.items()), listed.resourceVersion()))
                    .exceptionally(thrown -> {
                        rereadFailed(this, NoAnswer.because("LIST " + server, "the server", thrown));
                        return null;
                    });
        }

        @Override
        public void close() {
            reflector.close();
        }

        @Override
        public String connection() {
            return reflector.connection();
        }

        @Override
        public boolean isOver() {
            return false;
        }

        @Override
        public String note() {
            return store.watchesNamespaces() ? "; watched by name, because the watch of the namespace was refused" : "";
        }

        @Override
        public void listWritten() {
            WatchEntry.this.listWritten(this);
        }

        @Override
        public void replace(List<Fetched<T>> items, String resourceVersion) {
            received(this, answerOf(items), "");
        }

        @Override
        public void upsert(Fetched<T> fetched) {
            if (server.isNamed(fetched)) {
                received(this, WatchEntry.this.answerOf(fetched), fetched.resourceVersion());
            }
        }

        @Override
        public void delete(Fetched<T> last) {
            if (server.isNamed(last)) {
                received(this, new Answer.Absent<>(0), last.resourceVersion());
            }
        }

        @Override
        public void connected() {
            server.accepted();
            upToDate(this);
        }

        @Override
        public void resumed() {
            server.accepted();
            unconfirmed(this);
        }

        @Override
        public void disconnected(ApiServerException cause) {
            if (cause.reason() == FailureReason.EXPIRED) {
                server.expired();
            }
            failed(this, cause);
        }

        @Override
        public @Nullable Duration pauseAfterRefusal() {
            return WatchEntry.this.pauseAfterRefusal(this);
        }

        private Answer<T> answerOf(List<Fetched<T>> items) {
            Fetched<T> item = server.itemOf(items);
            return item == null ? new Answer.Absent<>(0) : WatchEntry.this.answerOf(item);
        }
    }

    /** Returns the answer for an object that the watch has brought. */
    Answer.Present<T> answerOf(Fetched<T> fetched) {
        return Answer.watched(store.kind, key, fetched, store.options);
    }
}
