package dev.podcache.store;

import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.store.Fetches.Fetch;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Strategy GET: every get asks the API server for the latest state. Keeps no objects and no references: every object
 * can be read, and a get never fails with NotRegistered. Thread-safe.
 *
 * @param <T> the model class
 */
public final class DirectObjectStore<T extends HasMetadata> implements Store<T>, AutoCloseable {

    /** The name of the strategy in metrics. */
    private static final String STRATEGY = "GET";

    private final StoreOptions options;
    private final ObjectKind<T> kind;
    private final Fetches<T> fetches;

    /**
     * Makes a store that reads from {@code getter}.
     *
     * @param getter makes one request per call
     */
    public DirectObjectStore(ObjectKind<T> kind, ObjectGetter<T> getter, StoreOptions options) {
        this.kind = kind;
        this.options = options;
        this.fetches = new Fetches<>(kind, STRATEGY, getter, options.timekeeper()::nanoTime, options);
    }

    @Override
    public ObjectKind<T> kind() {
        return kind;
    }

    @Override
    public Timekeeper timekeeper() {
        return options.timekeeper();
    }

    /** Does nothing. */
    @Override
    public void addReference(ObjectKey key, Referrer referrer, Consumer<Runnable> effects) {}

    /** Does nothing. */
    @Override
    public void deleteReference(ObjectKey key, Referrer referrer, Consumer<Runnable> effects) {}

    @Override
    public T get(String namespace, String name) {
        return pending(namespace, name).join();
    }

    @Override
    public T get(String namespace, String name, ReadConsistency consistency) {
        Objects.requireNonNull(consistency, "consistency");
        return pending(namespace, name).join();
    }

    @Override
    public CompletableFuture<T> getAsync(String namespace, String name) {
        return pending(namespace, name).async();
    }

    private PendingGet<T> pending(String namespace, String name) {
        ObjectKey key = kind.validatedKey(namespace, name);
        options.metrics().missed(kind, key, STRATEGY);
        Fetch<T> fetch = Fetch.latest(1);
        fetches.start(key, fetch, fetch.outcome::complete);
        return fetches.get(key, fetch);
    }

    /** Returns null. */
    @Override
    public @Nullable T ifHit(String namespace, String name) {
        return null;
    }

    /** Returns null. */
    @Override
    public @Nullable T ifRestrictedHit(String namespace, String name) {
        return null;
    }

    /** Returns false: references are not kept. */
    @Override
    public boolean isRestricted(String namespace, String name) {
        return false;
    }

    /** Has no effect: references are not kept. */
    @Override
    public void requireFree(String namespace, String name) {}

    @Override
    public ObjectState state(ObjectKey key) {
        return ObjectState.unknown("strategy GET caches nothing: every get asks the API server");
    }

    /** Returns null. */
    @Override
    public @Nullable KnownObject<T> known(ObjectKey key) {
        return null;
    }

    /** Returns none. */
    @Override
    public Set<ObjectKey> keys() {
        return Set.of();
    }

    /** Returns {@link ChangeCounts#NONE}. */
    @Override
    public ChangeCounts changes() {
        return ChangeCounts.NONE;
    }

    /**
     * Refuses the observer, which would never be called.
     *
     * @throws IllegalStateException always
     */
    @Override
    public Runnable observe(Consumer<ObjectKey> changed) {
        throw new IllegalStateException("strategy GET keeps no objects, so no change is seen: use WATCH or CACHE");
    }

    @Override
    public Runnable observePassively(Consumer<ObjectKey> changed) {
        return () -> {};
    }

    /** Ends waiting gets, and later ones, with {@link Closed}. Idempotent. */
    @Override
    public void close() {
        fetches.close();
    }
}
