package dev.podcache.testkit;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.CachedReviews;
import dev.podcache.manager.CacheStats;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.manager.ObjectCache;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.time.Durations;
import dev.podcache.time.SimulatedTimekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A cache without an API server, for the unit test of code that takes an {@link ObjectCache} or {@link Manager}s.
 * Registrations, reads, states
 * and listeners are those of strategy WATCH; only the server is replaced: it has the objects that the test
 * {@linkplain #put puts} there.
 *
 * <pre>{@code
 * try (FakePodcache cache = new FakePodcache()) {
 *   cache.put(secret);
 *   Deployer deployer = new Deployer(cache.secrets());
 *   deployer.deploy(website); // registers the website and reads the Secret
 *   cache.fail(ObjectKind.SECRET, "shop", "db", FailureReason.UNAVAILABLE);
 *   deployer.deploy(website); // the Secret is still there, and stale
 * }
 * }</pre>
 *
 * <p>Owners on behalf of a {@link Subject} work as with a {@code Podcache}: a subject may read everything until the test
 * {@linkplain #deny denies} it.
 *
 * <p>Nothing waits. When the call that makes a change returns, reads see the change, and a listener was called if its
 * executor runs tasks at once ({@code Runnable::run}): one that gathers changes too, if for two minutes at most. What
 * follows from a registration at a {@link Manager}, instead of here, it is told with the next change. A read that would
 * wait for a failing server ends at once, as if its timeout had passed. Starts no thread. Thread-safe; changes are made one at a time, and the next one begins after
 * such a listener has returned.
 */
public final class FakePodcache implements ObjectCache {

    /** Longer than any pause before a retry, and than answers to reviews are unsettled after a change of access. */
    private static final Duration SETTLED = Duration.ofMinutes(2);

    private static final Duration NEVER = Duration.ofDays(36_500);

    private final SimulatedTimekeeper time = new SimulatedTimekeeper();
    private final Map<ObjectKind<?>, FakeObjects<?>> objects = new ConcurrentHashMap<>();
    private final Set<Denial> denied = ConcurrentHashMap.newKeySet();
    private final CachedReviews reviews = new CachedReviews(new TestedReviews(), false, time);
    private final WatchStores stores = new WatchStores();
    private final Managers managers =
            new Managers(stores, new CountedEvents(PodcacheMetrics.NONE), false, Set.of(), reviews);

    /** What a subject may or may not get. */
    private record Denial(Subject subject, ResourceAccess access) {}

    /** Allows everything that the test has not denied. */
    private final class TestedReviews implements AccessReviews {

        @Override
        public CompletableFuture<Optional<Subject>> reviewToken(String token) {
            return CompletableFuture.completedFuture(Optional.empty());
        }

        @Override
        public CompletableFuture<Review> review(Subject subject, ResourceAccess access) {
            boolean allowed = !denied.contains(new Denial(subject, access));
            return CompletableFuture.completedFuture(new Review(allowed, allowed ? "" : "the test denies it"));
        }
    }

    private final class WatchStores implements Managers.Stores {

        private final List<Runnable> open = new ArrayList<>(); // guarded by this
        private boolean closed; // guarded by this

        @Override
        public synchronized <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
            if (closed) {
                throw new IllegalStateException("the cache is closed: it makes no manager of " + kind);
            }
            FakeObjects<T> server = objectsOf(kind);
            WatchObjectStore<T> store = new WatchObjectStore<>(
                    kind, server::byName, server, StoreOptions.defaults(time), new WatchTimes(Duration.ZERO, NEVER));
            open.add(store::close);
            return store;
        }

        void close() {
            List<Runnable> closing;
            synchronized (this) {
                closed = true;
                closing = List.copyOf(open);
                open.clear();
            }
            closing.forEach(Runnable::run);
        }

        @Override
        public boolean countsReferences(ObjectKind<?> kind) {
            return true;
        }
    }

    /** Makes a cache whose server has no objects. */
    public FakePodcache() {}

    @SuppressWarnings("unchecked") // Managers compares the model classes of equal kinds
    private <T extends HasMetadata> FakeObjects<T> objectsOf(ObjectKind<T> kind) {
        return (FakeObjects<T>) objects.computeIfAbsent(kind, FakeObjects::new);
    }

    /**
     * Creates or replaces an object, whose model class says its kind. It gets a new resourceVersion, and a UID if it
     * has none. The {@code stringData} of a Secret becomes data. Ends a failure of this object.
     *
     * @param object copied
     * @throws IllegalArgumentException if the class does not say its kind, or namespace or name is not legal
     */
    @SuppressWarnings("unchecked") // the class of an object of class T
    public <T extends HasMetadata> void put(T object) {
        put(ObjectKind.of((Class<T>) object.getClass()), object);
    }

    /**
     * Creates or replaces an object of a kind, such as one without a model class of its own; see {@link
     * #put(HasMetadata)}.
     *
     * @param object copied
     * @throws IllegalArgumentException if namespace or name is not legal
     */
    public synchronized <T extends HasMetadata> void put(ObjectKind<T> kind, T object) {
        String namespace = object.getMetadata().getNamespace();
        ObjectKey key = kind.validatedKey(
                namespace == null ? "" : namespace, object.getMetadata().getName());
        objectsOf(kind).put(key, object);
        settle();
    }

    /**
     * Deletes an object; nothing happens if there is none. Ends a failure of this object.
     *
     * @param namespace empty for a kind without namespaces
     * @throws IllegalArgumentException if namespace or name is not legal
     */
    public synchronized void remove(ObjectKind<?> kind, String namespace, String name) {
        objectsOf(kind).remove(kind.validatedKey(namespace, name));
        settle();
    }

    /**
     * Ends the watch of an object, and makes every request for it fail until it is put or removed. An object that the
     * cache knows becomes stale. An object that it does not know cannot be read: {@code NotSynced}. An object that is
     * registered and was never put is known not to exist: {@code getObject} then throws {@code NotFound} whose cause is
     * the failure, and {@code findObject} throws the same.
     *
     * @param namespace empty for a kind without namespaces
     * @param reason the reason of the {@code ApiServerException} that is the cause of what reads throw
     * @throws IllegalArgumentException if namespace or name is not legal
     */
    public synchronized void fail(ObjectKind<?> kind, String namespace, String name, FailureReason reason) {
        objectsOf(kind).fail(kind.validatedKey(namespace, name), Objects.requireNonNull(reason, "reason"));
        settle();
    }

    /**
     * Denies an object to a subject, as if the Role that allowed it were gone: reads for owners on behalf of this subject end
     * with {@code Denied}, and listeners are told. An object need not exist, and need not be registered yet. Before this, a
     * subject may read everything.
     *
     * @param subject of owners made by {@link Referrer#onBehalfOf}; with other groups it is another subject
     * @param namespace empty for a kind without namespaces
     * @throws IllegalArgumentException if namespace or name is not legal
     */
    public synchronized void deny(Subject subject, ObjectKind<?> kind, String namespace, String name) {
        if (denied.add(denial(subject, kind, namespace, name))) {
            reviewAgain(namespace);
        }
    }

    /**
     * Ends a denial by {@link #deny}; nothing happens if there is none.
     *
     * @param namespace empty for a kind without namespaces
     * @throws IllegalArgumentException if namespace or name is not legal
     */
    public synchronized void allow(Subject subject, ObjectKind<?> kind, String namespace, String name) {
        if (denied.remove(denial(subject, kind, namespace, name))) {
            reviewAgain(namespace);
        }
    }

    private static Denial denial(Subject subject, ObjectKind<?> kind, String namespace, String name) {
        return new Denial(
                Objects.requireNonNull(subject, "subject"),
                ResourceAccess.of(kind, kind.validatedKey(namespace, name), "get"));
    }

    private void reviewAgain(String namespace) {
        reviews.accessChanged(namespace);
        settle();
    }

    /** Lets time pass until all that follows from a change has happened. */
    private void settle() {
        time.pass(SETTLED);
    }

    @Override
    public Manager<Secret> secrets() {
        return managers.of(ObjectKind.SECRET);
    }

    @Override
    public Manager<ConfigMap> configMaps() {
        return managers.of(ObjectKind.CONFIG_MAP);
    }

    @Override
    public <T extends HasMetadata> Manager<T> objects(ObjectKind<T> kind) {
        return managers.of(kind);
    }

    @Override
    public void registerPod(Pod pod) {
        managers.registerPod(pod);
        settle();
    }

    @Override
    public void unregisterPod(Pod pod) {
        managers.unregisterPod(pod);
        settle();
    }

    @Override
    public void register(Referrer referrer, Set<ObjectRef> references) {
        managers.register(referrer, references);
        settle();
    }

    @Override
    public void unregister(Referrer referrer) {
        managers.unregister(referrer);
        settle();
    }

    /**
     * Returns every referenced object with its state and its owners, so that a test finds owners that its code did not
     * unregister.
     */
    @Override
    public List<ObjectEntry> entries() {
        return managers.entries();
    }

    /**
     * Returns what was not read, as {@code Podcache.awaitSynced} does: an object that {@link #fail fails}, or whose name is
     * not legal. Does not wait.
     */
    @Override
    public List<ObjectEntry> awaitSynced(Duration timeout) {
        return managers.awaitSynced(Durations.atLeast(Duration.ZERO, "timeout", timeout), time);
    }

    @Override
    public CacheStats stats() {
        return managers.stats();
    }

    /**
     * Closes the cache, as a {@code Podcache} is closed: nothing is held any more, reads end with {@code Closed}, and nothing new
     * is registered or subscribed. Idempotent.
     */
    @Override
    public void close() {
        reviews.close();
        stores.close();
        time.close();
    }
}
