package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.store.Fetch.FetchOutcome;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** An object kept fresh by asking again: the state table of strategy CACHE. */
final class TtlEntry<T> extends Entry<T> {

    /*
     * State                     a get                                      a fetch that succeeds     one that fails
     * ----------------------------------------------------------------------------------------------------------------------
     * no answer                 waits for a fetch                          keep the answer           keep the failure
     * no answer, and the server fails at once with that failure            -                         -
     *   asked for a pause
     *   that is not over
     * present and fresh         is answered (normally without the lock)    -                         -
     * present, stale, in the    is answered at once, without the lock      -                         -
     *   leeway
     * present, stale, beyond    is answered at once with what is known;    keep the answer           keep, refresh behind
     *   that but bearable         one of them starts a fetch
     * present, staler           waits for a fetch, but not for long        keep the answer           keep, refresh behind
     * absent                    the same: absence is never fresh           keep the answer           keep, refresh behind
     * present or absent, and    is answered at once with what is known;    keep, refresh no longer   pause longer
     *   refreshed behind        one of them starts the next fetch        behind
     *                           when the pause is over
     *
     * Single flight: at most one fetch is attached. A new reference, and dropping, detach it: it goes on for the gets
     * that wait for it, but its outcome is not kept, and no later get waits for it. Hence the registration
     * guarantee: a get that begins after addReference returned can only ever see answers of fetches started after it.
     *
     * A pause that was asked for (Retry-After) holds for whatever is known, but not beyond a new reference: that begins
     * anew, so that no pod waits for a pause that was asked of another. Registrations are few; it is gets, which may
     * come in any number, that must not turn into requests. Without an answer, our own pauses do not count: they save
     * the server a request that no get needs, and here a get needs it.
     *
     * Sharing: a fetch that began before a get did may answer it only with an object, and only if some age is allowed
     * (TTL above 0). Otherwise the get looks once more; the fetch it finds then began after itself, so its
     * outcome counts whatever it is. If that one has ended by then, the object that it brought counts as well. No get
     * waits for more than two fetches.
     *
     * Background refresh: "bearable" is what exceeds the TTL by less than the maximum staleness; without the
     * option, and with a TTL of 0, nothing is. The leeway is the part of that in which no get asks yet. It is
     * drawn anew for each answer, from nothing to half of the maximum, so objects that were read together drift
     * apart a little more with each refresh; the other half is left for the next get to come and for the fetch to
     * end, before a get has to wait.
     */

    private static final Retries RETRIES = new Retries(Duration.ofSeconds(1), Duration.ofSeconds(30));
    private static final Retries ASKED_ONLY = Retries.atOnce();

    private final long maxStaleness;

    // Written under this. Not in the answer, where hits would pay for it: a get that takes the leeway of another answer
    // than it finds serves what is bearable all the same.
    private volatile long leeway;

    // That of the answer, for hits. Written under this, after the object, and read before it: what is served is at
    // least as young as what was looked at.
    private volatile long receivedAt;

    private @Nullable Fetch<T> fetch; // guarded by this, like all that follows
    private long fetches;
    private long answeredBy; // the number of the fetch that brought the answer
    private boolean refreshBehind;
    private int failures;
    private long nextRefresh;
    private long askedUntil; // means something only with a failure
    private @Nullable ApiServerException lastFailure;

    /**
     * An entry of which nothing is known.
     *
     * @param maxStaleness in nanoseconds, zero for no background refresh
     */
    TtlEntry(ObjectKey key, Transitions<T> transitions, long maxStaleness) {
        super(key, transitions);
        this.maxStaleness = maxStaleness;
    }

    /** Returns the object if it is known and fresh, else null. Takes no lock and allocates nothing. */
    @Nullable
    T ifFresh(long freshSince) {
        boolean young = receivedAt - freshSince > 0;
        T known = ifKnown();
        return young ? known : ifImmutable();
    }

    private @Nullable T ifImmutable() {
        return answer() instanceof Answer.Present<T> present && present.immutable ? present.object : null;
    }

    /**
     * Returns the object if it is known and its next refresh is not due yet, though it may be stale, else null. Takes no lock.
     */
    @Nullable
    T ifInLeeway(long freshSince) {
        return freshSince - receivedAt < leeway ? ifKnown() : null;
    }

    /**
     * The result of a get that is not a hit.
     *
     * @param dropped the entry was dropped: look again
     * @param good the object, if it is bearable, or another get just refreshed it, by a fetch that began after this
     *     one did or so that it is fresh
     * @param known the last answer, which is not that good
     * @param awaited the fetch to wait for; null if {@code good}, or else {@code known}, is to be served at once, or,
     *     if there is neither, if the get fails at once
     * @param started the fetch that the caller has to set off
     * @param lastFailure why the last refresh failed, if it did
     */
    record TtlLookup<T>(
            boolean dropped,
            @Nullable T good,
            @Nullable Answer<T> known,
            @Nullable Fetch<T> awaited,
            @Nullable Fetch<T> started,
            @Nullable ApiServerException lastFailure) {}

    /** Returns how many fetches have begun so far: those with a higher number began after the call. */
    synchronized long fetchesSoFar() {
        return fetches;
    }

    /** Looks for a get that began when there had been {@code begunBefore} fetches. */
    synchronized TtlLookup<T> lookup(long now, long ttlNanos, long begunBefore) {
        Answer<T> known = answer();
        long freshSince = FreshnessClock.freshSince(now, ttlNanos);
        if (isDroppedLocked()) {
            return new TtlLookup<>(true, null, null, null, null, null);
        }
        if (known instanceof Answer.Present<T> present && (present.isFresh(freshSince) || answeredBy > begunBefore)) {
            return new TtlLookup<>(false, present.object, null, null, null, null);
        }
        boolean behind = known != null && refreshBehind;
        Fetch<T> started = null;
        if (fetch == null && mayAskLocked(known, now)) {
            fetches++;
            started = new Fetch<>(fetches, known);
            fetch = started;
        }
        if (known instanceof Answer.Present<T> present && freshSince - present.receivedAt < maxStaleness) {
            return new TtlLookup<>(false, present.object, null, null, started, null);
        }
        return new TtlLookup<>(false, null, known, behind ? null : fetch, started, lastFailure);
    }

    private boolean mayAskLocked(@Nullable Answer<T> known, long now) {
        if (known == null) {
            return lastFailure == null || now - askedUntil >= 0;
        }
        return !refreshBehind || now - nextRefresh >= 0;
    }

    /** Takes over the outcome of a fetch, unless it was detached; then wakes the gets that wait for it. */
    void end(Fetch<T> ended, FetchOutcome<T> outcome, long now) {
        Answer<T> after = null;
        synchronized (this) {
            if (fetch == ended) {
                fetch = null;
                after = Answer.sharing(answer(), outcome.answer());
                if (after == null) {
                    failedLocked(outcome.failure(), now);
                } else {
                    leeway = drawLeeway();
                    setAnswerLocked(after, Transitions.FETCHED);
                    receivedAt = after.receivedAt;
                    answeredBy = ended.number;
                    succeededLocked();
                }
            }
        }
        changed();
        ended.outcome.complete(after == null ? outcome : FetchOutcome.answered(after));
    }

    /** Ends waiting for a fetch that a get did not want to wait for longer: later gets are served what is known. */
    synchronized void gaveUpOn(Fetch<T> slow) {
        if (fetch == slow) {
            refreshBehind = true;
        }
    }

    private long drawLeeway() {
        return (long) (ThreadLocalRandom.current().nextDouble() * maxStaleness / 2);
    }

    private void succeededLocked() {
        refreshBehind = false;
        failures = 0;
        lastFailure = null;
    }

    private void failedLocked(@Nullable ApiServerException failure, long now) {
        lastFailure = failure;
        if (failure == null) {
            return;
        }
        askedUntil = now + ASKED_ONLY.pause(1, 0, failure).toNanos();
        if (answer() == null) {
            return;
        }
        failures++;
        refreshBehind = true;
        Duration pause = RETRIES.pause(failures, ThreadLocalRandom.current().nextDouble(), failure);
        nextRefresh = now + pause.toNanos();
    }

    @Override
    boolean beginsEpochLocked() {
        fetch = null;
        succeededLocked();
        return true;
    }

    @Override
    void droppedLocked() {
        fetch = null;
    }

    @Override
    void unlocked() {}

    synchronized ObjectState state(long now, long ttlNanos, String freshness) {
        Answer<T> known = answer();
        CacheState cacheState = Answer.cacheStateOf(known);
        String version = "";
        if (known instanceof Answer.Present<T> present) {
            version = present.resourceVersion;
            cacheState =
                    present.isFresh(FreshnessClock.freshSince(now, ttlNanos)) ? CacheState.FRESH : CacheState.STALE;
        }
        Duration age = known == null ? null : Duration.ofNanos(Math.max(0, now - known.receivedAt));
        return new ObjectState(cacheState, version, age, lastFailure, referencesLocked(), freshness);
    }
}
