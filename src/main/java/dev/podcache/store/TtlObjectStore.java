package dev.podcache.store;

import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.Referrer;
import dev.podcache.store.Fetch.FetchOutcome;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Strategy CACHE: an answer of the API server is served until it is older than the TTL, then the next get asks again.
 *
 * <p><b>Staleness.</b> An answer is served as fresh for at most the TTL and 100 ms, counted from its arrival, and a TTL
 * that changes counts for what is cached too, within the same 100 ms. What an answer says may be as far behind as the
 * API server's own cache, except on the first read after a new reference, which is a quorum read. Objects marked {@code
 * immutable} are not asked for again while they are referenced. While the API server cannot be asked, the known object
 * is served, however old, and asked for again behind the gets at growing intervals of 1 to 30 s.
 *
 * <p><b>Background refresh</b> ({@link StoreOptions#backgroundRefresh}, off unless asked for). An object that is older
 * than the TTL, by at most the maximum staleness, is served at once, and only a get of an older one waits. Each answer
 * is asked for again by the first get after a moment of its own, drawn at random between the TTL and half of the
 * maximum staleness later: never before the TTL, so there are no more requests than without, and objects that were
 * first read together are soon asked for one by one. An object that is served so is no miss before that moment, and
 * counts as served stale only beyond the maximum; its state is STALE from the TTL on. A TTL of zero stays "every get
 * asks", and absence is still never fresh.
 *
 * <p><b>Requests.</b> All gets that miss the same object share one fetch. With an answer in hand a get waits
 * for it at most 1 s. Without one, a get fails at once, as the one before it did, while a pause lasts that
 * the server asked for (Retry-After) and that did not fit the read timeout; it counts for two minutes at
 * most, and not beyond a new reference.
 *
 * <p>Follows {@code objectStore} of the kubelet's {@code pkg/kubelet/util/manager/cache_based_manager.go}; where it
 * goes further than that (single flight instead of a queue on a lock, absence that replaces a known object, refreshes
 * behind the gets) is said in {@code TtlEntry}.
 *
 * @param <T> the model class
 */
public final class TtlObjectStore<T extends HasMetadata> implements Store<T>, AutoCloseable {

    /** The strategy as metrics name it. */
    private static final String STRATEGY = "CACHE";

    /** The longest that a get that could serve what is known waits for something newer. */
    private static final Duration REFRESH_WAIT = Duration.ofSeconds(1);

    private final ObjectKind<T> kind;
    private final ObjectTtlSource ttl;
    private final StoreOptions options;
    private final FreshnessClock clock;
    private final Fetches<T> fetches;
    private final EntryTable<T, TtlEntry<T>> entries;

    /**
     * An empty store.
     *
     * @param getter makes the requests, one each
     * @param ttl how long an answer counts as fresh
     */
    public TtlObjectStore(ObjectKind<T> kind, ObjectGetter<T> getter, ObjectTtlSource ttl, StoreOptions options) {
        this.kind = kind;
        this.ttl = ttl;
        this.options = options;
        this.clock = new FreshnessClock(options.timekeeper(), ttl);
        this.fetches = new Fetches<>(kind, STRATEGY, getter, clock::stamp, options);
        Transitions<T> transitions = new Transitions<>(kind, options);
        long maxStaleness = options.maxStaleness().toNanos();
        this.entries = new EntryTable<>(
                kind, key -> new TtlEntry<>(key, transitions, maxStaleness), clock::retain, clock::release);
    }

    @Override
    public void addReference(ObjectKey key, Referrer referrer) {
        entries.addReference(key, Objects.requireNonNull(referrer, "referrer"));
    }

    @Override
    public void deleteReference(ObjectKey key, Referrer referrer) {
        entries.deleteReference(key, Objects.requireNonNull(referrer, "referrer"));
    }

    @Override
    public T get(String namespace, String name) {
        TtlEntry<T> entry = entries.find(
                Objects.requireNonNull(namespace, "namespace is null: name the namespace of the object"),
                Objects.requireNonNull(name, "name is null: name the object"));
        if (entry != null) {
            T hit = entry.ifFresh(clock.freshSince());
            if (hit != null) {
                return hit;
            }
        }
        return miss(namespace, name);
    }

    private T miss(String namespace, String name) {
        TtlEntry<T> known = entries.find(namespace, name);
        T notDue = known == null ? null : known.ifInLeeway(clock.freshSince());
        if (notDue != null) {
            return notDue;
        }
        ObjectKey key = kind.validatedKey(namespace, name);
        options.metrics().missed(kind, key, STRATEGY);
        long deadline = now() + options.readTimeout().toNanos();
        while (true) {
            TtlEntry<T> entry = entries.find(namespace, name);
            if (entry == null) {
                throw entries.whyNone(key);
            }
            T object = read(entry, deadline);
            if (object != null) {
                return object;
            }
            // dropped meanwhile; if it is referenced again, it has another entry
            entries.remove(entry);
        }
    }

    /** Returns the object, or null if the entry is dropped. Looks at most twice, see {@code TtlEntry}. */
    private @Nullable T read(TtlEntry<T> entry, long deadline) {
        boolean ageAllowed = ttl.ttlNanos() > 0;
        long begunBefore = entry.fetchesSoFar();
        while (true) {
            TtlEntry.TtlLookup<T> lookup = entry.lookup(now(), ttl.ttlNanos(), begunBefore);
            if (lookup.dropped()) {
                return null;
            }
            Fetch<T> started = lookup.started();
            if (started != null) {
                fetches.start(entry.key, started, outcome -> entry.end(started, outcome, now()));
            }
            Fetch<T> awaited = lookup.awaited();
            if (awaited == null) {
                return lookup.good() != null
                        ? lookup.good()
                        : fetches.serveStale(entry.key, lookup.known(), lookup.lastFailure());
            }
            if (!fetches.endsWithin(patience(lookup, deadline), entry.key, awaited)) {
                entry.gaveUpOn(awaited);
                return fetches.serveStale(entry.key, lookup.known(), null);
            }
            FetchOutcome<T> outcome = awaited.outcome.join();
            if (awaited.number > begunBefore || countsForLatecomer(outcome, lookup.known(), ageAllowed)) {
                return fetches.conclude(entry.key, lookup.known(), outcome);
            }
        }
    }

    private Duration patience(TtlEntry.TtlLookup<T> lookup, long deadline) {
        Duration left = Duration.ofNanos(deadline - now());
        return lookup.known() == null || left.compareTo(REFRESH_WAIT) < 0 ? left : REFRESH_WAIT;
    }

    /** Returns whether a fetch that began before a get did may answer it. */
    private static <T> boolean countsForLatecomer(
            FetchOutcome<T> outcome, @Nullable Answer<T> known, boolean ageAllowed) {
        return outcome.answer() == null ? known != null || outcome.isClosed() : outcome.isPresent() && ageAllowed;
    }

    @Override
    public ObjectState state(ObjectKey key) {
        TtlEntry<T> entry = entries.find(key.namespace(), key.name());
        String freshness = "TTL " + Duration.ofNanos(ttl.ttlNanos()) + ", " + ttl.origin()
                + (options.maxStaleness().isZero()
                        ? ""
                        : "; refreshed behind gets for " + options.maxStaleness() + " after it");
        return entry == null ? ObjectState.unknown(freshness) : entry.state(now(), ttl.ttlNanos(), freshness);
    }

    /** Returns how many objects are held. */
    public int size() {
        return entries.size();
    }

    /** Drops everything; gets that wait end with {@link Closed}. Idempotent. */
    @Override
    public void close() {
        fetches.close();
        entries.close();
    }

    private long now() {
        return options.timekeeper().nanoTime();
    }
}
