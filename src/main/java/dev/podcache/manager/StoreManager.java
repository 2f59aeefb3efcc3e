package dev.podcache.manager;

import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.manager.Registrations.Wanted;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.object.Usage;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.ChangeCounts;
import dev.podcache.store.KnownObject;
import dev.podcache.store.ObjectState;
import dev.podcache.store.ObservableStore;
import dev.podcache.store.Store;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Adds references to a store, and takes them back, as referrers register and unregister. {@link Registrations}
 * remembers the references of each referrer. Under strategy GET, registering only checks its arguments.
 *
 * <p>Follows {@code cacheBasedManager} of the kubelet's {@code pkg/kubelet/util/manager/cache_based_manager.go} in its
 * newest form: registering a pod again adds only its new references. Without references, follows {@code
 * simpleSecretManager} of {@code pkg/kubelet/secret}.
 */
class StoreManager<T> implements Manager<T> {

    final int index;
    final Store<T> store;
    private final BiFunction<String, String, ObjectKey> keys;
    private final Registrations registrations;
    private final Function<Pod, ObjectNeeds> references;
    private final ImmutableList<StoreManager<?>> registering;

    /**
     * Makes a manager without registrations.
     *
     * @param keys returns the key of an object, or throws if a name is not legal
     * @param references returns the objects that a pod refers to
     */
    StoreManager(
            Registrations registrations,
            Store<T> store,
            BiFunction<String, String, ObjectKey> keys,
            Function<Pod, ObjectNeeds> references) {
        this.registrations = registrations;
        this.index = registrations.nextIndex();
        this.store = store;
        this.keys = keys;
        this.references = references;
        this.registering = ImmutableList.of(this);
    }

    /** Makes a manager that keeps no references. */
    StoreManager(Store<T> store, BiFunction<String, String, ObjectKey> keys) {
        this.registrations = new Registrations(null, Set.of());
        this.index = 0;
        this.store = store;
        this.keys = keys;
        this.references = pod -> ObjectNeeds.NONE;
        this.registering = ImmutableList.of();
    }

    @Override
    public T getObject(String namespace, String name) {
        return store.get(namespace, name);
    }

    @Override
    public void registerPod(Pod pod) {
        registrations.registerPod(pod, registering);
    }

    @Override
    public void unregisterPod(Pod pod) {
        registrations.unregister(PodReferences.key(pod), registering);
    }

    @Override
    public void register(Referrer referrer, Set<ObjectKey> objects) {
        Objects.requireNonNull(referrer, "referrer");
        ObjectNeeds needs = ObjectNeeds.of(Objects.requireNonNull(objects, "objects"));
        if (keepsReferences()) {
            registrations.register(referrer, "", ImmutableList.of(new Wanted(this, needs)));
        }
    }

    @Override
    public void unregister(Referrer referrer) {
        registrations.unregister(Objects.requireNonNull(referrer, "referrer"), registering);
    }

    /** Returns the objects of this kind that {@code pod} needs. */
    final Wanted wantedBy(Pod pod) {
        return new Wanted(this, references.apply(pod));
    }

    /** Returns whether an owner with these usages of an object needs the changes of the object. */
    final boolean follows(Set<Usage> usages) {
        return registrations.follows(usages);
    }

    /** Returns whether registrations have an effect: not under GET. */
    final boolean keepsReferences() {
        return !registering.isEmpty();
    }

    @Override
    public Optional<T> findObject(String namespace, String name) {
        try {
            return Optional.of(getObject(namespace, name));
        } catch (NotFound e) {
            if (isUnsure(e)) {
                throw e;
            }
            return Optional.empty();
        }
    }

    /** Returns whether the object may exist by now: a later check than the one that did not find it has failed. */
    private static boolean isUnsure(NotFound absent) {
        return absent.getCause() != null;
    }

    @Override
    public T getObject(String namespace, String name, ReadConsistency consistency) {
        return store.get(namespace, name, consistency);
    }

    @Override
    public CompletableFuture<T> getObjectAsync(String namespace, String name) {
        return store.getAsync(namespace, name);
    }

    @Override
    public Map<ObjectKey, T> getObjects(Set<ObjectKey> wanted) {
        Map<ObjectKey, CompletableFuture<T>> reads = new LinkedHashMap<>();
        Objects.requireNonNull(wanted, "keys")
                .forEach(key -> reads.put(key, getObjectAsync(key.namespace(), key.name())));
        ImmutableMap.Builder<ObjectKey, T> found = ImmutableMap.builder();
        reads.forEach((key, read) -> {
            try {
                found.put(key, read.get());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new FetchFailed(store.kind(), key, FailureReason.INTERRUPTED, 0, null, e);
            } catch (ExecutionException e) {
                Throwable failure = Objects.requireNonNull(e.getCause());
                if (!(failure instanceof NotFound absent) || isUnsure(absent)) {
                    Throwables.throwIfUnchecked(failure);
                    throw new IllegalStateException("a get threw a checked exception", failure);
                }
            }
        });
        return found.buildOrThrow();
    }

    @Override
    public Optional<T> peek(String namespace, String name) {
        return Optional.ofNullable(known(keys.apply(namespace, name))).map(KnownObject::object);
    }

    /** Returns what the store knows of an object; null if it is not referenced, or the store keeps nothing. */
    @Nullable
    final KnownObject<T> known(ObjectKey key) {
        return store instanceof ObservableStore<T> observable ? observable.known(key) : null;
    }

    /** Adds what the store holds to {@code totals}. */
    final void addTo(HeldTotals totals, ObjectKind<?> kind) {
        totals.add(kind, store instanceof ObservableStore<T> observable ? observable.changes() : ChangeCounts.NONE);
        for (ObjectKey key : keys()) {
            KnownObject<T> known = known(key);
            if (known != null) {
                totals.add(kind, store.state(key), known);
            }
        }
    }

    /** Returns the objects that the store holds; a snapshot. */
    final Set<ObjectKey> keys() {
        return store instanceof ObservableStore<T> observable ? observable.keys() : Set.of();
    }

    @Override
    public AutoCloseable listen(Executor executor, Consumer<ObjectEvent<T>> listener) {
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(listener, "listener");
        return Subscription.open(observable(), executor, listener);
    }

    @Override
    public AutoCloseable listen(
            Executor executor, Duration gather, BiConsumer<Referrer, List<ObjectEvent<T>>> listener) {
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(listener, "listener");
        return new GatheredEvents<>(observable(), executor, Durations.positive("gather", gather), listener);
    }

    private ObservableStore<T> observable() {
        if (store instanceof ObservableStore<T> observable) {
            return observable;
        }
        throw new IllegalStateException("strategy GET keeps no objects, so no change is seen: use WATCH or CACHE");
    }

    @Override
    public ObjectState state(String namespace, String name) {
        return store.state(keys.apply(namespace, name));
    }
}
