package dev.podcache.store;

import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
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

    // shared with gets that find no hit
    final ObjectKind<T> kind;
    final ObjectTtlSource ttl;
    final StoreOptions options;
    final Fetches<T> fetches;
    final EntryTable<T, TtlEntry<T>> entries;

    private final FreshnessClock clock;
    private final Transitions<T> transitions;

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
        T fresh = entry.ifFresh(clock.freshSince());
        return fresh == null ? entry.ifInLeeway(clock.freshSince()) : fresh;
    }

    private PendingGet<T> pending(String namespace, String name, boolean latest) {
        ObjectKey key = kind.validatedKey(namespace, name);
        options.metrics().missed(kind, key, STRATEGY);
        return new TtlGet<>(this, key, latest);
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
    public ObjectState state(ObjectKey key) {
        TtlEntry<T> entry = entries.find(key.namespace(), key.name());
        String freshness = "TTL " + Durations.text(Duration.ofNanos(ttl.ttlNanos())) + ", " + ttl.origin()
                + (options.maxStaleness().isZero()
                        ? ""
                        : "; then refreshed in the background for " + Durations.text(options.maxStaleness()));
        return entry == null ? ObjectState.unknown(freshness) : entry.state(now(), ttl.ttlNanos(), freshness);
    }

    @Override
    public ObjectKind<T> kind() {
        return kind;
    }

    @Override
    public Timekeeper timekeeper() {
        return options.timekeeper();
    }

    @Override
    public Runnable observe(Consumer<ObjectKey> changed) {
        entries.requireOpen("no listener for objects of kind " + kind + " was subscribed");
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
