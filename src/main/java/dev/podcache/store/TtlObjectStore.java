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
import java.util.Set;
import java.util.function.Consumer;
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
 * <p>Follows {@code objectStore} of the kubelet's {@code pkg/kubelet/util/manager/cache_based_manager.go}. {@code
 * TtlEntry} explains the differences: single flight instead of a queue on a lock, absence that replaces a known object,
 * and refreshes in the background.
 *
 * @param <T> the model class
 */
public final class TtlObjectStore<T extends HasMetadata> implements ObservableStore<T>, AutoCloseable {

    /** The name of the strategy in metrics. */
    private static final String STRATEGY = "CACHE";

    /** The longest that a get with a held answer waits for a newer one. */
    private static final Duration REFRESH_WAIT = Duration.ofSeconds(1);

    private final ObjectKind<T> kind;
    private final ObjectTtlSource ttl;
    private final StoreOptions options;
    private final FreshnessClock clock;
    private final Fetches<T> fetches;
    private final Transitions<T> transitions;
    private final EntryTable<T, TtlEntry<T>> entries;

    /**
     * Makes an empty store.
     *
     * @param getter makes one request per call
     * @param ttl how long an answer counts as fresh
     */
    public TtlObjectStore(ObjectKind<T> kind, ObjectGetter<T> getter, ObjectTtlSource ttl, StoreOptions options) {
        this.kind = kind;
        this.ttl = ttl;
        this.options = options;
        this.clock = new FreshnessClock(options.timekeeper(), ttl);
        this.fetches = new Fetches<>(kind, STRATEGY, getter, clock::stamp, options);
        this.transitions = new Transitions<>(options);
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
        T hit = ifHit(namespace, name);
        return hit == null ? miss(namespace, name) : hit;
    }

    @Override
    public @Nullable T ifHit(String namespace, String name) {
        TtlEntry<T> entry = entries.find(
                Objects.requireNonNull(namespace, "namespace is null: name the namespace of the object"),
                Objects.requireNonNull(name, "name is null: name the object"));
        if (entry == null) {
            return null;
        }
        T fresh = entry.ifFresh(clock.freshSince());
        return fresh == null ? entry.ifInLeeway(clock.freshSince()) : fresh;
    }

    private T miss(String namespace, String name) {
        ObjectKey key = kind.validatedKey(namespace, name);
        options.metrics().missed(kind, key, STRATEGY);
        long deadline = now() + options.readTimeout().toNanos();
        while (true) {
            TtlEntry<T> entry = entries.find(namespace, name);
            if (entry == null) {
                throw entries.missingException(key);
            }
            T object = read(entry, deadline);
            if (object != null) {
                return object;
            }
            // dropped meanwhile; an object that is referenced again has another entry
            entries.remove(entry);
        }
    }

    /** Returns the object, or null if the entry is dropped. Looks up the entry at most twice; see {@code TtlEntry}. */
    private @Nullable T read(TtlEntry<T> entry, long deadline) {
        boolean ageAllowed = ttl.ttlNanos() > 0;
        long begunBefore = entry.fetchesBegun();
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
                return lookup.usable() != null
                        ? lookup.usable()
                        : fetches.serveStale(entry.key, lookup.known(), lookup.lastFailure());
            }
            if (!fetches.endsWithin(patience(lookup, deadline), entry.key, awaited)) {
                entry.markSlow(awaited);
                return fetches.serveStale(entry.key, lookup.known(), null);
            }
            FetchOutcome<T> outcome = awaited.outcome.join();
            if (awaited.number > begunBefore || mayAnswerLaterGet(outcome, lookup.known(), ageAllowed)) {
                return fetches.conclude(entry.key, lookup.known(), outcome);
            }
        }
    }

    private Duration patience(TtlEntry.TtlLookup<T> lookup, long deadline) {
        Duration left = Duration.ofNanos(deadline - now());
        return lookup.known() == null || left.compareTo(REFRESH_WAIT) < 0 ? left : REFRESH_WAIT;
    }

    /** Returns whether a fetch that began before the get may answer it. */
    private static <T> boolean mayAnswerLaterGet(
            FetchOutcome<T> outcome, @Nullable Answer<T> known, boolean ageAllowed) {
        return outcome.answer() == null ? known != null || outcome.isClosed() : outcome.isPresent() && ageAllowed;
    }

    @Override
    public ObjectState state(ObjectKey key) {
        TtlEntry<T> entry = entries.find(key.namespace(), key.name());
        String freshness = "TTL " + Duration.ofNanos(ttl.ttlNanos()) + ", " + ttl.origin()
                + (options.maxStaleness().isZero()
                        ? ""
                        : "; then refreshed in the background for " + options.maxStaleness());
        return entry == null ? ObjectState.unknown(freshness) : entry.state(now(), ttl.ttlNanos(), freshness);
    }

    @Override
    public ObjectKind<T> kind() {
        return kind;
    }

    @Override
    public Runnable observe(Consumer<ObjectKey> changed) {
        return transitions.observe(changed);
    }

    @Override
    public @Nullable KnownObject<T> known(ObjectKey key) {
        TtlEntry<T> entry = entries.find(key.namespace(), key.name());
        return entry == null ? null : entry.known();
    }

    @Override
    public ChangeCounts changes() {
        return transitions.counts();
    }

    @Override
    public Set<ObjectKey> keys() {
        return entries.keys();
    }

    /** Returns the number of referenced objects. */
    public int size() {
        return entries.size();
    }

    /** Drops all entries; waiting gets end with {@link Closed}. Idempotent. */
    @Override
    public void close() {
        fetches.close();
        entries.close();
    }

    private long now() {
        return options.timekeeper().nanoTime();
    }
}
