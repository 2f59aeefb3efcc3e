package dev.podcache.manager;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.CachedReviews;
import dev.podcache.manager.Registrations.ObjectNeeds;
import dev.podcache.manager.Registrations.Wanted;
import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.object.Usage;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.KnownObject;
import dev.podcache.store.Store;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The managers of one cache, one for each kind, made when a kind is first needed. Each call for a referrer is one step
 * over all kinds: it changes all of them or, if it fails, none. Thread-safe.
 *
 * @hidden
 */
@NotApi
public final class Managers {

    private final Stores stores;
    private final CountedEvents events;
    private final @Nullable LongAdder hits; // null unless they are counted
    private final Registrations registrations;
    private final Map<ObjectKind<?>, OfKind<?>> byKind = new ConcurrentHashMap<>(); // written under this
    private final StoreManager<?> secrets;
    private final StoreManager<?> configMaps;
    private final ImmutableList<StoreManager<?>> ofPods; // those of the two that keep references

    /** The manager of one kind. Equal kinds may have different model classes, so the kind is kept. */
    private record OfKind<T extends HasMetadata>(ObjectKind<T> kind, StoreManager<T> manager) {

        Stream<ObjectEntry> entries(Registrations registrations) {
            return manager.store.keys().stream()
                    .map(key -> entry(key, registrations))
                    .filter(Objects::nonNull);
        }

        private @Nullable ObjectEntry entry(ObjectKey key, Registrations registrations) {
            KnownObject<T> known = manager.store.known(key);
            return known == null
                    ? null
                    : new ObjectEntry(
                            kind,
                            key,
                            known,
                            known.referrers().stream()
                                    .collect(ImmutableMap.toImmutableMap(
                                            manager::registered,
                                            owner -> registrations.usages(owner, manager, key),
                                            (one, same) -> one)));
        }
    }

    /** Returns the counts of the cache. Visits every object. */
    public CacheStats stats() {
        CacheStats.HeldTotals held = new CacheStats.HeldTotals();
        byKind.values().forEach(ofKind -> held.add(ofKind.kind, ofKind.manager.store));
        OptionalLong counted = hits == null ? OptionalLong.empty() : OptionalLong.of(hits.sum());
        return new CacheStats(held, events, counted, stores.connections());
    }

    /**
     * Makes the store of a kind.
     *
     * @hidden
     */
    public interface Stores {

        /**
         * Returns the store of a kind; called once for each. Makes no request.
         *
         * @throws IllegalStateException if the cache is closed
         */
        <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind);

        /** Returns whether the store of that kind counts references. */
        boolean countsReferences(ObjectKind<?> kind);

        /** Returns the number of connections to the API server. */
        default int connections() {
            return 0;
        }
    }

    /**
     * Returns a manager that adds references to {@code store} for the objects that registered pods refer to.
     *
     * @param references returns the objects that a pod refers to; called on the registering thread, outside all locks
     */
    public static <T> Manager<T> caching(Store<T> store, Function<Pod, ? extends Set<ObjectKey>> references) {
        return new StoreManager<>(
                new Registrations(Set.of()), store, ObjectKey::validated, pod -> ObjectNeeds.of(references.apply(pod)));
    }

    /** Returns the time of a manager that was made here; null for any other. */
    public static @Nullable Timekeeper timekeeperOf(Manager<?> manager) {
        return manager instanceof StoreManager<?> ours ? ours.store.timekeeper() : null;
    }

    /**
     * Returns a manager that keeps no references. Registering and unregistering only check their arguments, and every
     * object can be read.
     */
    public static <T> Manager<T> simple(Store<T> store) {
        return new StoreManager<>(new Registrations(Set.of()), store, ObjectKey::validated);
    }

    /** Makes the managers of a cache whose events and hits are not counted. */
    public Managers(Stores stores) {
        this(stores, new CountedEvents(PodcacheMetrics.NONE), false, Set.of());
    }

    /** Makes the managers of a cache in which owners with a subject may read nothing. */
    public Managers(Stores stores, CountedEvents events, boolean countsHits, Set<Usage> followed) {
        this(stores, events, countsHits, followed, null);
    }

    /**
     * Makes the managers of Secrets and ConfigMaps, which pods refer to.
     *
     * @param events counts the events of the stores
     * @param countsHits whether the managers count hits
     * @param followed the usages that need the changes of an object; empty for all
     * @param reviews reviews what owners with a subject may read; null if they may read nothing
     */
    public Managers(
            Stores stores,
            CountedEvents events,
            boolean countsHits,
            Set<Usage> followed,
            @Nullable CachedReviews reviews) {
        this.stores = stores;
        this.events = events;
        this.hits = countsHits ? new LongAdder() : null;
        this.registrations = new Registrations(followed, reviews);
        this.secrets = make(ObjectKind.SECRET, ObjectNeeds::ofSecrets);
        this.configMaps = make(ObjectKind.CONFIG_MAP, ObjectNeeds::ofConfigMaps);
        this.ofPods = ImmutableList.of(secrets, configMaps).stream()
                .filter(StoreManager::keepsReferences)
                .collect(ImmutableList.toImmutableList());
    }

    private <T extends HasMetadata> StoreManager<T> make(ObjectKind<T> kind, Function<Pod, ObjectNeeds> references) {
        Store<T> store = stores.storeOf(kind);
        StoreManager<T> manager = manager(kind, store, references);
        byKind.put(kind, new OfKind<>(kind, manager));
        return manager;
    }

    private <T extends HasMetadata> StoreManager<T> manager(
            ObjectKind<T> kind, Store<T> store, Function<Pod, ObjectNeeds> references) {
        if (!stores.countsReferences(kind)) {
            return new StoreManager<>(registrations, store, kind::validatedKey);
        }
        return hits == null
                ? new StoreManager<>(registrations, store, kind::validatedKey, references)
                : new StoreManager.Counting<>(registrations, hits, store, kind::validatedKey, references);
    }

    /**
     * Returns the manager of a kind: always the same.
     *
     * @throws IllegalArgumentException if the kind is used with another model class already
     * @throws IllegalStateException if the cache is closed and the kind is new
     */
    public <T extends HasMetadata> Manager<T> of(ObjectKind<T> kind) {
        return managerOf(kind);
    }

    @SuppressWarnings("unchecked") // the model class is compared
    private <T extends HasMetadata> StoreManager<T> managerOf(ObjectKind<T> kind) {
        OfKind<?> known = byKind.get(Objects.requireNonNull(kind, "kind"));
        if (known == null) {
            return makeOnce(kind);
        }
        if (known.kind.model() != kind.model()) {
            throw new IllegalArgumentException(kind.apiVersion() + " " + kind + " is used with the model class "
                    + known.kind.model().getName() + " already: use one model class for a kind, not "
                    + kind.model().getName() + " as well");
        }
        return (StoreManager<T>) known.manager;
    }

    private synchronized <T extends HasMetadata> StoreManager<T> makeOnce(ObjectKind<T> kind) {
        return byKind.containsKey(kind) ? managerOf(kind) : make(kind, pod -> ObjectNeeds.NONE);
    }

    /** Returns the stores of all kinds in use; a snapshot. */
    List<Store<?>> stores() {
        return byKind.values().stream()
                .<Store<?>>map(ofKind -> ofKind.manager.store)
                .toList();
    }

    /** Returns every object that is referenced, with its state and its owners; a snapshot. */
    public List<ObjectEntry> entries() {
        return byKind.values().stream()
                .flatMap(ofKind -> ofKind.entries(registrations))
                .toList();
    }

    /**
     * Waits until every object that is referenced now was read, at most for {@code timeout}. Returns those that were
     * not. An interrupt ends the wait; the interrupt status is then set.
     */
    public List<ObjectEntry> awaitSynced(Duration timeout, Timekeeper timekeeper) {
        Set<ObjectRef> unread =
                new FirstReads(object -> managerOf(object.kind()), timekeeper).await(entries(), timeout);
        return entries().stream()
                .filter(entry -> unread.contains(ObjectRef.of(entry.kind(), entry.key())))
                .toList();
    }

    /**
     * Registers {@code pod} with the managers of Secrets and ConfigMaps, or with neither if one fails.
     *
     * @throws IllegalArgumentException if namespace, name, UID or spec is missing
     * @throws IllegalStateException if the cache is closed and the pod refers to anything new
     */
    public void registerPod(Pod pod) {
        registrations.registerPod(pod, ofPods, this::wantedBy);
    }

    /** Walks over the pod once, for both kinds. */
    private ImmutableList<Wanted> wantedBy(Pod pod) {
        ObjectNeeds.Gathering ofSecrets = new ObjectNeeds.Gathering();
        ObjectNeeds.Gathering ofConfigMaps = new ObjectNeeds.Gathering();
        PodReferences.forEach(pod, ofSecrets::add, ofConfigMaps::add);
        return ImmutableList.of(secrets.wantedByPod(ofSecrets.needs()), configMaps.wantedByPod(ofConfigMaps.needs()));
    }

    /**
     * Unregisters {@code pod}.
     *
     * @throws IllegalArgumentException if namespace, name or UID is missing
     */
    public void unregisterPod(Pod pod) {
        registrations.unregister(PodReferences.key(pod), ImmutableList.of(secrets, configMaps));
    }

    /**
     * Has {@code referrer} hold {@code objects} and nothing else of any kind.
     *
     * @throws IllegalArgumentException if a name is illegal, the referrer has no UID, or a kind is used with another model
     *     class already
     * @throws IllegalStateException if the cache is closed and an object is new
     */
    public void register(Referrer referrer, Set<ObjectRef> objects) {
        Objects.requireNonNull(referrer, "referrer");
        Objects.requireNonNull(objects, "objects");
        Map<StoreManager<?>, ObjectNeeds.Gathering> byManager = new HashMap<>();
        for (ObjectRef object : Set.copyOf(objects)) {
            ObjectKey key = object.kind().validatedKey(object.namespace(), object.name());
            byManager
                    .computeIfAbsent(managerOf(object.kind()), manager -> new ObjectNeeds.Gathering())
                    .add(key, object.usage().orElse(null));
        }
        ImmutableList.Builder<Wanted> wanted = ImmutableList.builder();
        for (OfKind<?> each : byKind.values()) {
            ObjectNeeds.Gathering gathered = byManager.get(each.manager);
            wanted.add(each.manager.wanted(referrer, gathered == null ? ObjectNeeds.NONE : gathered.needs()));
        }
        registrations.register(referrer, "", wanted.build());
    }

    /** Releases everything that {@code referrer} holds. One that is not registered is ignored. */
    public void unregister(Referrer referrer) {
        Objects.requireNonNull(referrer, "referrer");
        ImmutableList<StoreManager<?>> all =
                byKind.values().stream().map(OfKind::manager).collect(ImmutableList.toImmutableList());
        registrations.unregister(referrer, all);
    }
}
