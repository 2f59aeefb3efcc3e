package dev.podcache.store;

import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ReadConsistency;
import dev.podcache.store.Fetches.Fetch;
import dev.podcache.store.Fetches.FetchOutcome;
import dev.podcache.store.TtlEntry.TtlLookup;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Strategy CACHE: an answer of the API server is returned until it is older than the TTL; then the next get asks again.
 *
 * <p><b>Staleness.</b> An answer counts as fresh for at most the TTL plus 100 ms, counted from its arrival. A changed
 * TTL applies to cached answers too, within the same 100 ms. An answer may lag as far as the API server's own cache,
 * except on the first read after a new reference, which is a quorum read. Objects marked {@code immutable} are not
 * fetched again while they are referenced. While the API server cannot be asked, the known object is returned, however
 * old, and refreshed in the background at growing intervals of 1 to 30 s.
 *
 * <p><b>Background refresh</b> ({@link StoreOptions#backgroundRefresh}, off by default). An object that exceeds the TTL
 * by at most the maximum staleness is returned at once; only a get of an older object waits. Each answer has its own
 * refresh time, drawn at random between the TTL and half of the maximum staleness later. The first get after that time
 * starts the refresh. So there are no more requests than without the option, and objects that were first read together
 * are soon refreshed one by one. A get before the refresh time is not a miss. A get counts as served stale only beyond
 * the maximum staleness, although the state is STALE from the TTL on. With a TTL of zero every get still asks, and
 * absence is still never fresh.
 *
 * <p><b>Requests.</b> All gets that miss the same object share one fetch. With a held answer, a get waits for the fetch
 * at most 1 s. Without one, while a pause lasts that the server asked for (Retry-After) and that exceeded the read
 * timeout, gets fail at once with the last failure. Such a pause counts for at most two minutes, and ends with a new
 * reference.
 *
 * <p><b>Refused objects.</b> A first read that is refused (403) is repeated as {@link EarlyRefusals} says, because access
 * may follow the reference.
 *
 * <p>Follows {@code objectStore} of the kubelet's {@code pkg/kubelet/util/manager/cache_based_manager.go}. {@code
 * TtlEntry} explains the differences: single flight instead of a queue on a lock, absence that replaces a known object,
 * and refreshes in the background.
 *
 * @param <T> the model class
 */
public final class TtlObjectStore<T extends HasMetadata> extends EntryStore<T> {

    /** The name of the strategy in metrics. */
    private static final String STRATEGY = "CACHE";

    /** The longest that a get with a held answer waits for a newer one. */
    private static final long REFRESH_WAIT = Duration.ofSeconds(1).toNanos();

    private final ObjectTtlSource ttl;
    private final Fetches<T> fetches;
    private final EntryTable<T, TtlEntry<T>> entries;
    private final FreshnessClock clock;

    /**
     * Makes an empty store.
     *
     * @param getter makes one request per call
     * @param ttl how long an answer counts as fresh
     */
    public TtlObjectStore(ObjectKind<T> kind, ObjectGetter<T> getter, ObjectTtlSource ttl, StoreOptions options) {
        super(kind, options);
        this.ttl = ttl;
        this.clock = new FreshnessClock(options.timekeeper(), ttl);
        this.fetches = new Fetches<>(kind, STRATEGY, getter, clock::stamp, options);
        long maxStaleness = options.maxStaleness().toNanos();
        this.entries = new EntryTable<>(
                kind,
                key -> new TtlEntry<>(key, transitions, maxStaleness, options.earlyRefusals()),
                clock::retain,
                clock::release);
    }

    @Override
    EntryTable<T, TtlEntry<T>> entries() {
        return entries;
    }

    @Override
    public T get(String namespace, String name) {
        T hit = ifHit(namespace, name);
        return hit == null ? pending(namespace, name, false).join() : hit;
    }

    @Override
    public @Nullable T ifHit(String namespace, String name) {
        TtlEntry<T> entry = entries.find(
                Objects.requireNonNull(namespace, "namespace is null: name the namespace of the object"),
                Objects.requireNonNull(name, "name is null: name the object"));
        if (entry == null) {
            return null;
        }
        T hit = entry.ifFresh(clock.freshSince());
        if (hit == null && !entry.isRestricted()) {
            hit = entry.ifInLeeway(clock.freshSince());
        }
        // asked after the read: when this version came, only owners with a subject may have been left
        return entry.isRestricted() ? null : hit;
    }

    @Override
    public @Nullable T ifRestrictedHit(String namespace, String name) {
        TtlEntry<T> entry = entries.find(namespace, name);
        if (entry == null) {
            return null;
        }
        T fresh = entry.ifFresh(clock.freshSince());
        return fresh == null ? entry.ifInLeeway(clock.freshSince()) : fresh;
    }

    private PendingGet<T> pending(String namespace, String name, boolean latest) {
        ObjectKey key = kind.validatedKey(namespace, name);
        options.metrics().missed(kind, key, STRATEGY);
        return new Get(key, latest);
    }

    @Override
    public T get(String namespace, String name, ReadConsistency consistency) {
        TtlEntry<T> entry = entries.find(namespace, name);
        if (entry != null) {
            entry.touched = true;
            Answer<T> held = entry.answer();
            if (held != null && held.meets(consistency, Duration.ofNanos(now() - held.receivedAt))) {
                return held.objectOf(kind, entry.key);
            }
        }
        return pending(namespace, name, true).join();
    }

    @Override
    public CompletableFuture<T> getAsync(String namespace, String name) {
        T hit = ifHit(namespace, name);
        return hit == null ? pending(namespace, name, false).async() : CompletableFuture.completedFuture(hit);
    }

    @Override
    public @Nullable KnownObject<T> known(ObjectKey key) {
        TtlEntry<T> entry = entries.find(key.namespace(), key.name());
        return entry == null ? null : entry.known(now(), ttl.ttlNanos(), freshness());
    }

    @Override
    ObjectState notReferenced() {
        return ObjectState.unknown(freshness());
    }

    private String freshness() {
        return "TTL " + Durations.text(Duration.ofNanos(ttl.ttlNanos())) + ", " + ttl.origin()
                + (options.maxStaleness().isZero()
                        ? ""
                        : "; then refreshed in the background for " + Durations.text(options.maxStaleness()));
    }

    @Override
    public void close() {
        fetches.close();
        super.close();
    }

    /** A get that found no hit. Looks up an entry at most three times, see {@code TtlEntry}; another one if that was dropped. */
    private final class Get extends PendingGet<T> {

        private final boolean latest;
        private final long deadline;
        private @Nullable TtlEntry<T> entry;
        private @Nullable TtlLookup<T> lookup;
        private long begunBefore; // the fetches that had begun when this get found its entry
        private boolean ageAllowed;

        /**
         * Makes a get that has not begun.
         *
         * @param latest whether only a quorum read that began after this get may answer it
         */
        Get(ObjectKey key, boolean latest) {
            super(TtlObjectStore.this.kind, key, options);
            this.latest = latest;
            this.deadline = now() + options.readTimeout().toNanos();
        }

        @Override
        @Nullable
        T proceed(boolean inTime) {
            TtlEntry<T> found = entry;
            TtlLookup<T> before = lookup;
            if (found != null && before != null && before.awaited() != null) {
                T object = afterWait(found, before, before.awaited(), inTime);
                if (object != null) {
                    return object;
                }
            }
            return look();
        }

        /** Returns the object of the awaited fetch, or null if it may not answer this get. */
        private @Nullable T afterWait(TtlEntry<T> found, TtlLookup<T> before, Fetch<T> awaited, boolean inTime) {
            Answer<T> known = latest ? null : before.known();
            if (!inTime && !awaited.outcome.isDone()) {
                if (!latest) {
                    found.markSlow(awaited);
                }
                return fetches.serveStale(key, known, null);
            }
            FetchOutcome<T> outcome = awaited.outcome.join();
            boolean began = awaited.number > begunBefore;
            boolean mayAnswer = latest
                    ? outcome.isClosed() || (began && awaited.isLatest())
                    : began || mayAnswerLaterGet(outcome, known);
            return mayAnswer ? fetches.conclude(key, known, outcome) : null;
        }

        /** Returns whether a fetch that began before this get may answer it. */
        private boolean mayAnswerLaterGet(FetchOutcome<T> outcome, @Nullable Answer<T> known) {
            return outcome.answer() == null ? known != null || outcome.isClosed() : outcome.isPresent() && ageAllowed;
        }

        private @Nullable T look() {
            while (true) {
                TtlEntry<T> found = entry == null ? find() : entry;
                TtlLookup<T> now = latest
                        ? found.lookupLatest(now(), begunBefore)
                        : found.lookup(now(), ttl.ttlNanos(), begunBefore);
                if (now.dropped()) {
                    // an object that is referenced again has another entry
                    entries.remove(found);
                    entry = null;
                    continue;
                }
                lookup = now;
                Fetch<T> started = now.started();
                if (started != null) {
                    fetches.start(key, started, outcome -> end(found, started, outcome));
                }
                Fetch<T> awaited = now.awaited();
                if (awaited != null) {
                    boolean refreshes = now.known() != null && !latest;
                    return waitFor(awaited.outcome, refreshes ? Math.min(deadline, now() + REFRESH_WAIT) : deadline);
                }
                if (latest && now.known() != null) {
                    return fetches.conclude(key, null, FetchOutcome.answered(now.known()));
                }
                return now.usable() != null ? now.usable() : fetches.serveStale(key, now.known(), now.lastFailure());
            }
        }

        private void end(TtlEntry<T> found, Fetch<T> ended, FetchOutcome<T> outcome) {
            long now = ended.begunAt;
            try {
                now = now();
            } finally {
                // whatever the clock throws: no other fetch of the object starts before
                found.end(ended, outcome, now);
            }
        }

        private TtlEntry<T> find() {
            TtlEntry<T> found = entries.find(key.namespace(), key.name());
            if (found == null) {
                throw entries.missingException(key);
            }
            entry = found;
            ageAllowed = ttl.ttlNanos() > 0;
            begunBefore = found.fetchesBegun();
            return found;
        }
    }
}
