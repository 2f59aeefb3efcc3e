package dev.podcache.store;

import com.google.common.collect.Comparators;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectState;
import dev.podcache.store.Fetches.Fetch;
import dev.podcache.store.Fetches.FetchOutcome;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** An entry that is kept fresh by fetching again: the state table of strategy CACHE. */
final class TtlEntry<T> extends Entry<T> {

    /*
     * State                       a get                                  the fetch succeeds  the fetch fails
     * ---------------------------------------------------------------------------------------------------------------
     * no answer                   waits for a fetch                      keep the answer     keep the failure
     * no answer, and the server   fails at once with the last failure    -                   -
     *   asked for a pause that
     *   is not over
     * present and fresh           is answered, usually without the lock  -                   -
     * present, stale, within      is answered without the lock           -                   -
     *   the leeway
     * present, stale, beyond the  is answered; one get starts a fetch    keep the answer     keep both, background
     *   leeway, within the
     *   maximum staleness
     * present, beyond that        waits for a fetch, but not for long    keep the answer     keep both, background
     * absent                      waits for a fetch, but not for long    keep the answer     keep both, background
     * present or absent,          is answered; after the pause one       keep the answer,    keep both, longer pause
     *   background                  get starts a fetch                     background ends
     *
     * "Keep both" keeps the held answer and the failure. "Background" (refreshInBackground) means that the last refresh
     * failed or was too slow: gets return the held answer at once, and refreshes run in the background with growing
     * pauses.
     *
     * Single flight: at most one fetch is attached to the entry. A new reference, and dropping, detach it. It then
     * continues for the gets that wait for it, but its outcome is not kept, and no later get waits for it. Hence the
     * registration guarantee: a get that begins after addReference has returned sees only answers of fetches that
     * started after it.
     *
     * A pause that the server asked for (Retry-After) applies with or without an answer, but ends with a new reference,
     * so that no pod waits for a pause requested of another pod. Registrations are few; gets, which may be many, must
     * not become requests. Our own pauses apply only with an answer: they save a request that no get depends on.
     * Without an answer, a get depends on the request.
     *
     * Sharing: a fetch that began before a get may answer it only with an object, and only if the TTL is above 0.
     * Otherwise the get looks up the entry once more. If it then finds a fetch, that fetch began after the get, so its
     * outcome counts in any case. If that fetch has ended already, the object that it returned counts as well. No get
     * waits for more than two fetches.
     *
     * Latest: a get that asks for the latest state is answered only by a quorum read that began after it. It detaches a
     * fetch from the server's cache, whose outcome may be older. It waits for a quorum read that is in flight, so that
     * all gets that ask meanwhile share the next one.
     *
     * Refusals of an object whose reference is new may pass, see EarlyRefusals: a fetch repeats them for as long as a get
     * waits for access, and so does the next one, until the window is over. After that, a fetch asks once.
     *
     * Background refresh: an object may be returned while it exceeds the TTL by less than the maximum staleness;
     * without the option, or with a TTL of 0, never. The leeway is the part of that time in which no get starts a
     * fetch. It is drawn for each answer, between zero and half of the maximum, so that objects that were fetched
     * together drift apart with each refresh. The other half is left for the next get to come, and for its fetch to
     * end, before a get has to wait.
     */

    private static final Retries RETRIES = new Retries(Duration.ofSeconds(1), Duration.ofSeconds(30));

    private final long maxStaleness;

    // Written under this. Not in the answer, where hits would pay for it. A get that combines it with another answer
    // still returns an object within the maximum staleness.
    private volatile long leeway;

    // The answer's time of arrival, for hits. Written under this, after the object, and read before it, so the returned
    // object is at least as young as the time that was checked.
    private volatile long receivedAt;

    private @Nullable Fetch<T> fetch; // guarded by this, like all that follows
    private long fetches;
    private long answeredBy; // the number of the fetch that returned the answer
    private long latestBy; // the number of the last quorum read that returned an answer
    private boolean refreshInBackground;
    private int failures;
    private long nextRefresh;
    private long serverPauseEnd; // valid only with a failure: the end of the pause that the server asked for
    private @Nullable ApiServerException lastFailure;
    private boolean read; // since the last new reference
    private boolean refused; // a fetch has ended with a refusal since the last new reference
    private long refusedSince; // when the first such fetch began; valid if refused

    private final EarlyRefusals earlyRefusals;

    /**
     * Makes an entry without an answer.
     *
     * @param maxStaleness in nanoseconds, zero for no background refresh
     */
    TtlEntry(ObjectKey key, Transitions<T> transitions, long maxStaleness, EarlyRefusals earlyRefusals) {
        super(key, transitions);
        this.maxStaleness = maxStaleness;
        this.earlyRefusals = earlyRefusals;
    }

    /** Returns the object if it is held and fresh, else null. Takes no lock and allocates nothing. */
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
     * Returns the object if it is held and its next refresh is not due yet, though it may be stale, else null. Takes no
     * lock.
     */
    @Nullable
    T ifInLeeway(long freshSince) {
        return freshSince - receivedAt < leeway ? ifKnown() : null;
    }

    /**
     * The result of a lookup for a get that is not a hit.
     *
     * @param dropped whether the entry was dropped, so the caller must look again
     * @param usable the object, if it is within the maximum staleness, fresh, or the result of a fetch that began after
     *     the get
     * @param known the last answer, if it is not usable
     * @param awaited the fetch to wait for; null if the get ends at once, with {@code usable}, {@code known} or else
     *     {@code lastFailure}
     * @param started the fetch that the caller has to start
     * @param lastFailure why the last refresh failed, or null
     */
    record TtlLookup<T>(
            boolean dropped,
            @Nullable T usable,
            @Nullable Answer<T> known,
            @Nullable Fetch<T> awaited,
            @Nullable Fetch<T> started,
            @Nullable ApiServerException lastFailure) {}

    /** Returns how many fetches have begun: fetches with a higher number begin after the call. */
    synchronized long fetchesBegun() {
        return fetches;
    }

    /** Looks up the answer for a get that began after fetch number {@code begunBefore}. */
    synchronized TtlLookup<T> lookup(long now, long ttlNanos, long begunBefore) {
        Answer<T> known = answer();
        long freshSince = FreshnessClock.freshSince(now, ttlNanos);
        if (isDroppedLocked()) {
            return new TtlLookup<>(true, null, null, null, null, null);
        }
        if (known instanceof Answer.Present<T> present && (present.isFresh(freshSince) || answeredBy > begunBefore)) {
            return new TtlLookup<>(false, present.object, null, null, null, null);
        }
        boolean inBackground = known != null && refreshInBackground;
        Fetch<T> started = null;
        if (fetch == null && mayFetchLocked(known, now)) {
            fetches++;
            started = new Fetch<>(fetches, known, now, refusedForLocked(now));
            fetch = started;
        }
        if (known instanceof Answer.Present<T> present && freshSince - present.receivedAt < maxStaleness) {
            return new TtlLookup<>(false, present.object, null, null, started, null);
        }
        return new TtlLookup<>(false, null, known, inBackground ? null : fetch, started, lastFailure);
    }

    /** Looks up the answer of a quorum read that began after fetch number {@code begunBefore}. */
    synchronized TtlLookup<T> lookupLatest(long now, long begunBefore) {
        if (isDroppedLocked()) {
            return new TtlLookup<>(true, null, null, null, null, null);
        }
        Answer<T> known = answer();
        if (known != null && latestBy > begunBefore) {
            T object = known instanceof Answer.Present<T> present ? present.object : null;
            return new TtlLookup<>(false, object, known, null, null, null);
        }
        if (lastFailure != null && now - serverPauseEnd < 0) {
            return new TtlLookup<>(false, null, null, null, null, lastFailure);
        }
        if (fetch != null && fetch.isLatest()) {
            return new TtlLookup<>(false, null, null, fetch, null, null);
        }
        // a read from the server's cache is no answer to this get, nor kept over the newer one of this get's fetch
        fetches++;
        Fetch<T> started = new Fetch<>(fetches, null, now, refusedForLocked(now));
        fetch = started;
        return new TtlLookup<>(false, null, null, started, started, null);
    }

    /** Returns for how long a fetch that begins now repeats refusals. */
    private Duration refusedForLocked(long now) {
        if (read) {
            return Duration.ZERO;
        }
        Duration window = earlyRefusals.window();
        return Comparators.min(earlyRefusals.getWaits(), refused ? window.minusNanos(now - refusedSince) : window);
    }

    private boolean awaitsAccessLocked(long now) {
        return !read && (!refused || now - refusedSince < earlyRefusals.window().toNanos());
    }

    private boolean mayFetchLocked(@Nullable Answer<T> known, long now) {
        if (known == null) {
            return lastFailure == null || now - serverPauseEnd >= 0;
        }
        return !refreshInBackground || now - nextRefresh >= 0;
    }

    /** Takes over the outcome of a fetch, unless it was detached; then completes the fetch. */
    void end(Fetch<T> ended, FetchOutcome<T> outcome, long now) {
        Answer<T> after = null;
        synchronized (this) {
            if (fetch == ended) {
                fetch = null;
                after = Answer.sharing(answer(), outcome.answer());
                if (after == null) {
                    failedLocked(ended, outcome.failure(), now);
                } else {
                    read = true;
                    leeway = drawLeeway();
                    setAnswerLocked(after);
                    receivedAt = after.receivedAt;
                    answeredBy = ended.number;
                    latestBy = ended.isLatest() ? ended.number : latestBy;
                    succeededLocked();
                }
            }
        }
        changed();
        ended.outcome.complete(after == null ? outcome : FetchOutcome.answered(after));
    }

    /** Records that a get has stopped waiting for a slow fetch, so that later gets return the held answer at once. */
    synchronized void markSlow(Fetch<T> slow) {
        if (fetch == slow) {
            refreshInBackground = true;
        }
    }

    private long drawLeeway() {
        return (long) (ThreadLocalRandom.current().nextDouble() * maxStaleness / 2);
    }

    private void succeededLocked() {
        refreshInBackground = false;
        failures = 0;
        lastFailure = null;
    }

    private void failedLocked(Fetch<T> ended, @Nullable ApiServerException failure, long now) {
        lastFailure = failure;
        if (failure == null) {
            return;
        }
        if (!refused && failure.reason() == FailureReason.FORBIDDEN) {
            refused = true;
            refusedSince = ended.begunAt;
        }
        serverPauseEnd = now + Retries.askedPause(failure).toNanos();
        if (answer() == null) {
            return;
        }
        failures++;
        refreshInBackground = true;
        Duration pause = RETRIES.pause(failures, ThreadLocalRandom.current().nextDouble(), failure);
        nextRefresh = now + pause.toNanos();
    }

    @Override
    boolean beginsEpochLocked() {
        read = false;
        refused = false;
        fetch = null;
        succeededLocked();
        return true;
    }

    @Override
    @Nullable
    Answer<T> latestLocked() {
        return answer();
    }

    @Override
    boolean isStaleLocked() {
        return lastFailure != null;
    }

    @Override
    void onDropLocked() {
        fetch = null;
    }

    @Override
    void onEvictLocked() {}

    @Override
    void runDeferred() {} // nothing is deferred: gets start fetches

    /** Returns what is known; null if this entry is dropped. */
    synchronized @Nullable KnownObject<T> known(long now, long ttlNanos, String freshness) {
        return isDroppedLocked() ? null : knownLocked(stateLocked(now, ttlNanos, freshness));
    }

    private ObjectState stateLocked(long now, long ttlNanos, String freshness) {
        Answer<T> known = answer();
        CacheState cacheState = Answer.cacheStateOf(known);
        String version = "";
        if (known instanceof Answer.Present<T> present) {
            version = present.resourceVersion;
            cacheState =
                    present.isFresh(FreshnessClock.freshSince(now, ttlNanos)) ? CacheState.FRESH : CacheState.STALE;
        }
        Duration age = known == null ? null : Duration.ofNanos(Math.max(0, now - known.receivedAt));
        Fetch<T> inFlight = fetch;
        ApiServerException failure = inFlight == null || inFlight.refusal == null ? lastFailure : inFlight.refusal;
        if (known == null
                && failure != null
                && failure.reason() == FailureReason.FORBIDDEN
                && earlyRefusals.grantsFollow()) {
            cacheState = awaitsAccessLocked(now) ? CacheState.WAITING_FOR_ACCESS : CacheState.FORBIDDEN;
        }
        return new ObjectState(cacheState, version, age, failure, referencesLocked(), freshness);
    }
}
