package dev.podcache.store;

import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

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

    /** Does nothing. */
    @Override
    public void addReference(ObjectKey key, Referrer referrer) {}

    /** Does nothing. */
    @Override
    public void deleteReference(ObjectKey key, Referrer referrer) {}

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
        return new LatestGet<>(fetches, key, fetch, options);
    }

    @Override
    public ObjectState state(ObjectKey key) {
        return ObjectState.unknown("strategy GET caches nothing: every get asks the API server");
    }

    /** Ends waiting gets, and later ones, with {@link Closed}. Idempotent. */
    @Override
    public void close() {
        fetches.close();
    }
}
