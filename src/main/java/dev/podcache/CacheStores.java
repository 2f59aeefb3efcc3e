package dev.podcache;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.Transform;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Managers;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.PartlyPolledStore;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.io.Closeable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Makes the stores of one cache, each by the strategy of its kind, and closes them. Thread-safe. */
final class CacheStores implements Managers.Stores, Closeable {

    private final Fabric8ApiServer server;
    private final StoreOptions options;
    private final ObjectTtlSource ttl;
    private final WatchTimes watchTimes;
    private final Map<ObjectKind<?>, ChangeDetectionStrategy> strategies;
    private final ChangeDetectionStrategy usual;
    private final Map<ObjectKind<?>, Transform<?>> transforms;
    private final Set<ObjectKind<?>> watchedByNamespace;
    private final @Nullable Predicate<ObjectKey> polled;
    private final List<Runnable> open = new ArrayList<>(); // guarded by this
    private boolean closed; // guarded by this

    CacheStores(
            Fabric8ApiServer server,
            StoreOptions options,
            ObjectTtlSource ttl,
            WatchTimes watchTimes,
            Map<ObjectKind<?>, ChangeDetectionStrategy> strategies,
            ChangeDetectionStrategy usual,
            Map<ObjectKind<?>, Transform<?>> transforms,
            Set<ObjectKind<?>> watchedByNamespace,
            @Nullable Predicate<ObjectKey> polled) {
        this.server = server;
        this.options = options;
        this.ttl = ttl;
        this.watchTimes = watchTimes;
        this.strategies = strategies;
        this.usual = usual;
        this.transforms = transforms;
        this.watchedByNamespace = watchedByNamespace;
        this.polled = polled;
    }

    @Override
    public boolean countsReferences(ObjectKind<?> kind) {
        return strategyOf(kind) != ChangeDetectionStrategy.GET;
    }

    @Override
    public synchronized <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
        if (closed) {
            throw new IllegalStateException("the cache is closed: it makes no manager of " + kind);
        }
        ObjectGetter<T> getter = getter(kind);
        return switch (strategyOf(kind)) {
            case GET -> {
                DirectObjectStore<T> store = new DirectObjectStore<>(kind, getter, options);
                open.add(store::close);
                yield store;
            }
            case CACHE -> caching(kind, getter);
            case WATCH -> {
                WatchObjectStore<T> store = watchedByNamespace.contains(kind)
                        ? WatchObjectStore.ofNamespaces(
                                kind, byName(kind), inNamespace(kind), getter, options, watchTimes)
                        : new WatchObjectStore<>(kind, byName(kind), getter, options, watchTimes);
                open.add(store::close);
                yield polled == null ? store : new PartlyPolledStore<>(store, caching(kind, getter), polled);
            }
        };
    }

    private <T extends HasMetadata> TtlObjectStore<T> caching(ObjectKind<T> kind, ObjectGetter<T> getter) {
        TtlObjectStore<T> store = new TtlObjectStore<>(kind, getter, ttl, options);
        open.add(store::close);
        return store;
    }

    @Override
    public int connections() {
        return server.connections();
    }

    private <T extends HasMetadata> ObjectGetter<T> getter(ObjectKind<T> kind) {
        Transform<?> transform = transforms.get(kind);
        ObjectGetter<T> getter = server.getter(kind);
        return transform == null ? getter : transform.forKind(kind).of(getter);
    }

    private <T extends HasMetadata> Function<ObjectKey, ListerWatcher<T>> byName(ObjectKind<T> kind) {
        Transform<?> transform = transforms.get(kind);
        Function<ObjectKey, ListerWatcher<T>> byName = server.byName(kind);
        return transform == null ? byName : byName.andThen(transform.forKind(kind)::of);
    }

    private <T extends HasMetadata> BiFunction<String, Predicate<String>, ListerWatcher<T>> inNamespace(
            ObjectKind<T> kind) {
        Transform<?> transform = transforms.get(kind);
        BiFunction<String, Predicate<String>, ListerWatcher<T>> inNamespace = server.inNamespace(kind);
        return transform == null ? inNamespace : inNamespace.andThen(transform.forKind(kind)::of);
    }

    private ChangeDetectionStrategy strategyOf(ObjectKind<?> kind) {
        return strategies.getOrDefault(kind, usual);
    }

    @Override
    public void close() {
        List<Runnable> closing;
        synchronized (this) {
            closed = true;
            closing = List.copyOf(open);
            open.clear();
        }
        closing.forEach(Runnable::run);
    }
}
