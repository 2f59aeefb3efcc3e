package dev.podcache.manager;

import dev.podcache.object.ObjectKey;
import dev.podcache.store.ObservableStore;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiFunction;
import java.util.function.Function;

/** A manager that counts hits. A class of its own, so that a cache without counting has no check on each hit. */
final class CountingManager<T> extends StoreManager<T> {

    private final ObservableStore<T> counted;
    private final LongAdder hits;

    CountingManager(
            Registrations registrations,
            LongAdder hits,
            ObservableStore<T> store,
            BiFunction<String, String, ObjectKey> keys,
            Function<Pod, ObjectNeeds> references) {
        super(registrations, store, keys, references);
        this.counted = store;
        this.hits = hits;
    }

    @Override
    public T getObject(String namespace, String name) {
        T hit = counted.ifHit(namespace, name);
        if (hit == null) {
            return super.getObject(namespace, name);
        }
        hits.increment();
        return hit;
    }

    @Override
    public CompletableFuture<T> getObjectAsync(String namespace, String name) {
        T hit = counted.ifHit(namespace, name);
        if (hit == null) {
            return super.getObjectAsync(namespace, name);
        }
        hits.increment();
        return CompletableFuture.completedFuture(hit);
    }
}
