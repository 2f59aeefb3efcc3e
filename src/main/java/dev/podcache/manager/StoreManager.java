package dev.podcache.manager;

import com.google.common.base.Throwables;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.manager.Registrations.ObjectNeeds;
import dev.podcache.manager.Registrations.ReadHold;
import dev.podcache.manager.Registrations.Wanted;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.KnownObject;
import dev.podcache.store.Store;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
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
    private final List<Consumer<ObjectKey>> rightObservers = new CopyOnWriteArrayList<>();

    /** The longest that a read waits for the first review of what its owner may read. */
    private static final Duration REVIEW_WAIT = Duration.ofSeconds(10);

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

    /** Makes a manager that keeps no references. It remembers what owners with a subject registered. */
    StoreManager(Registrations registrations, Store<T> store, BiFunction<String, String, ObjectKey> keys) {
        this.registrations = registrations;
        this.index = registrations.nextIndex();
        this.store = store;
        this.keys = keys;
        this.references = pod -> ObjectNeeds.NONE;
        this.registering = ImmutableList.of();
    }

    @Override
    public T getObject(String namespace, String name) {
        T hit = store.ifHit(namespace, name);
        return hit == null ? getFree(namespace, name) : hit;
    }

    private T getFree(String namespace, String name) {
        requireUnrestricted(namespace, name);
        T object = store.get(namespace, name);
        // there may have been none at any time: an owner with a subject may have come and gone meanwhile
        store.requireFree(namespace, name);
        return object;
    }

    /** Throws if only owners with a subject refer to an object: then a read without an owner may not see it. */
    private void requireUnrestricted(String namespace, String name) {
        if (store.isRestricted(namespace, name)) {
            throw new NotRegistered(store.kind(), ObjectKey.of(namespace, name));
        }
    }

    @Override
    public T getObject(Referrer owner, String namespace, String name) {
        T hit = ownersHit(owner, namespace, name);
        return hit == null ? read(owner, namespace, name, () -> store.get(namespace, name)) : hit;
    }

    /**
     * Returns the object in memory that answers a read of an owner, or null. If there is one, this takes no lock and allocates
     * nothing.
     */
    final @Nullable T ownersHit(Referrer owner, String namespace, String name) {
        ReadHold hold = holdFor(owner, namespace, name);
        if (hold == null || !hold.isAllowed()) {
            return null;
        }
        T hit = store.ifRestrictedHit(namespace, name);
        // asked after the object was read: a version that its subject may not see any more is not returned
        return hit != null && hold.isAllowed() ? hit : null;
    }

    @Override
    public T getObject(Referrer owner, String namespace, String name, ReadConsistency consistency) {
        Objects.requireNonNull(consistency, "consistency");
        return read(owner, namespace, name, () -> store.get(namespace, name, consistency));
    }

    private @Nullable ReadHold holdFor(Referrer owner, String namespace, String name) {
        return registrations.holdFor(
                Objects.requireNonNull(owner, "owner is null: name the owner that reads"),
                this,
                Objects.requireNonNull(namespace, "namespace is null: name the namespace of the object"),
                Objects.requireNonNull(name, "name is null: name the object"));
    }

    private T read(Referrer owner, String namespace, String name, Supplier<T> get) {
        ReadHold found = holdFor(owner, namespace, name);
        ObjectKey key = keys.apply(namespace, name);
        while (true) {
            ReadHold hold = required(owner, key, found);
            CompletableFuture<Void> undecided = hold.undecided();
            if (undecided != null) {
                await(undecided, key);
            }
            if (mayRead(owner, key, hold)) {
                T object = get.get();
                if (mayRead(owner, key, hold)) {
                    return object;
                }
            }
            found = holdFor(owner, namespace, name);
        }
    }

    private void await(CompletableFuture<Void> undecided, ObjectKey key) {
        try {
            boolean unused = store.timekeeper().await(undecided, REVIEW_WAIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FetchFailed(store.kind(), key, FailureReason.INTERRUPTED, 0, null, e);
        } finally {
            undecided.complete(null);
        }
    }

    /** Returns the hold of an owner that reads, or throws if it did not register the object. */
    private ReadHold required(Referrer owner, ObjectKey key, @Nullable ReadHold found) {
        if (found != null) {
            return found;
        }
        if (keepsReferences() || owner.isOnBehalf()) {
            throw new NotRegistered(store.kind(), key);
        }
        return ReadHold.FREE;
    }

    /**
     * Returns whether an owner may read now; throws if it may not. Returns false if it was registered again, or unregistered,
     * meanwhile: then the registration that there is now decides.
     */
    private boolean mayRead(Referrer owner, ObjectKey key, ReadHold hold) {
        if (hold == ReadHold.FREE && registrations.registered(owner).isOnBehalf()) {
            return false;
        }
        boolean allowed = hold.isAllowed();
        if (!allowed && !hold.isClosed()) {
            // asked after the hold: closing the cache denies everything, and is no answer about the subject
            if (registrations.isClosed()) {
                throw new Closed(store.kind(), key);
            }
            throw new Denied(store.kind(), key, owner.subject().orElse(null), hold.reason(), hold.failure());
        }
        return allowed;
    }

    @Override
    public CompletableFuture<T> getObjectAsync(Referrer owner, String namespace, String name) {
        T hit = ownersHit(owner, namespace, name);
        if (hit != null) {
            return CompletableFuture.completedFuture(hit);
        }
        ReadHold found = holdFor(owner, namespace, name);
        ObjectKey key = keys.apply(namespace, name);
        CompletableFuture<T> result = new CompletableFuture<>();
        begin(owner, key, found, result);
        return result;
    }

    /** Begins a read by a hold, and completes {@code result} with what follows. */
    private void begin(Referrer owner, ObjectKey key, @Nullable ReadHold found, CompletableFuture<T> result) {
        try {
            ReadHold hold = required(owner, key, found);
            CompletableFuture<Void> undecided = hold.undecided();
            if (undecided == null) {
                readAsync(owner, key, hold, result);
                return;
            }
            // the decision, the end of the time, or a caller that gives up: whichever comes first, and never on the
            // thread of
            // the network
            result.whenComplete((read, failure) -> undecided.complete(null));
            Timekeeper.Scheduled late = store.timekeeper().schedule(REVIEW_WAIT, () -> undecided.complete(null));
            undecided
                    .thenRunAsync(
                            () -> {
                                late.cancel();
                                if (!result.isDone()) {
                                    readAsync(owner, key, hold, result);
                                }
                            },
                            store.timekeeper().blocking())
                    .whenComplete((done, failure) -> {
                        if (failure != null) {
                            result.completeExceptionally(failure);
                        }
                    });
        } catch (Throwable e) {
            result.completeExceptionally(e);
        }
    }

    private void readAsync(Referrer owner, ObjectKey key, ReadHold hold, CompletableFuture<T> result) {
        try {
            if (mayRead(owner, key, hold)) {
                store.getAsync(key.namespace(), key.name())
                        .whenComplete((object, failure) -> ended(owner, key, hold, object, failure, result));
            } else {
                begin(owner, key, holdFor(owner, key.namespace(), key.name()), result);
            }
        } catch (Throwable e) {
            result.completeExceptionally(e);
        }
    }

    private void ended(
            Referrer owner,
            ObjectKey key,
            ReadHold hold,
            @Nullable T object,
            @Nullable Throwable failure,
            CompletableFuture<T> result) {
        try {
            if (object == null) {
                result.completeExceptionally(
                        failure == null ? new IllegalStateException("a get returned null") : failure);
            } else if (mayRead(owner, key, hold)) {
                result.complete(object);
            } else {
                begin(owner, key, holdFor(owner, key.namespace(), key.name()), result);
            }
        } catch (Throwable e) {
            result.completeExceptionally(e);
        }
    }

    /** Completes a future with the result of a read if the check after it does not throw. */
    private void finish(CompletableFuture<T> read, Runnable check, CompletableFuture<T> result) {
        read.whenComplete((object, failure) -> {
            if (failure != null) {
                result.completeExceptionally(failure);
                return;
            }
            try {
                check.run();
                result.complete(object);
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
    }

    @Override
    public Optional<T> findObject(Referrer owner, String namespace, String name) {
        return found(() -> getObject(owner, namespace, name));
    }

    @Override
    public Optional<T> peek(Referrer owner, String namespace, String name) {
        ObjectKey key = keys.apply(namespace, name);
        ReadHold hold = holdFor(owner, namespace, name);
        if (hold == null || !hold.isAllowed()) {
            return Optional.empty();
        }
        Optional<T> known = Optional.ofNullable(store.known(key)).map(KnownObject::object);
        return hold.isAllowed() ? known : Optional.empty();
    }

    @Override
    public Map<ObjectKey, T> getObjects(Referrer owner, Set<ObjectKey> wanted) {
        return gathered(wanted, key -> getObjectAsync(owner, key.namespace(), key.name()));
    }

    /** Returns whether nobody with a subject may read any more, because the cache is closed. */
    final boolean deniesAll() {
        return registrations.isClosed();
    }

    /** Tells listeners that the right of an owner to read an object may have changed. */
    final void rightChanged(ObjectKey key) {
        rightObservers.forEach(observer -> observer.accept(key));
    }

    /** Calls {@code changed} when the right of an owner may have changed. Returns what ends the calls. */
    final Runnable observeRights(Consumer<ObjectKey> changed) {
        rightObservers.add(changed);
        return () -> rightObservers.remove(changed);
    }

    /** Returns an owner as it was registered. */
    final Referrer registered(Referrer owner) {
        return owner.isOnBehalf() ? registrations.registered(owner) : owner;
    }

    /**
     * Returns an owner as it is registered now, also one that had no subject and has one now. Waits until no call is changing
     * what it holds.
     */
    final Referrer registeredNow(Referrer owner) {
        return registrations.registeredAfterChanges(owner);
    }

    /** Returns the owner of a restricted reference, with its hold; null if it holds the object no longer. */
    final Registrations.@Nullable Holder holder(Referrer owner, ObjectKey key) {
        return registrations.holder(owner, this, key);
    }

    @Override
    public void registerPod(Pod pod) {
        registrations.registerPod(pod, registering, this::wantedBy);
    }

    @Override
    public void unregisterPod(Pod pod) {
        registrations.unregister(PodReferences.key(pod), ImmutableList.of(this));
    }

    @Override
    public void register(Referrer referrer, Set<ObjectKey> objects) {
        Objects.requireNonNull(referrer, "referrer");
        ObjectNeeds needs = ObjectNeeds.of(Objects.requireNonNull(objects, "objects"));
        registrations.register(referrer, "", ImmutableList.of(wanted(referrer, needs)));
    }

    /** Returns what is remembered of a registration: without references, only what an owner with a subject may read. */
    final Wanted wanted(Referrer referrer, ObjectNeeds needs) {
        return referrer.isOnBehalf() ? new Wanted(this, needs) : wantedByPod(needs);
    }

    /** Returns what is remembered of a registration by a pod, which has no subject. */
    final Wanted wantedByPod(ObjectNeeds needs) {
        return new Wanted(this, keepsReferences() ? needs : ObjectNeeds.NONE);
    }

    @Override
    public void unregister(Referrer referrer) {
        registrations.unregister(Objects.requireNonNull(referrer, "referrer"), ImmutableList.of(this));
    }

    private ImmutableList<Wanted> wantedBy(Pod pod) {
        return ImmutableList.of(wantedByPod(references.apply(pod)));
    }

    /** Returns whether registrations have an effect: not under GET. */
    final boolean keepsReferences() {
        return !registering.isEmpty();
    }

    @Override
    public Optional<T> findObject(String namespace, String name) {
        return found(() -> getObject(namespace, name));
    }

    private static <T> Optional<T> found(Supplier<T> get) {
        try {
            return Optional.of(get.get());
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
        requireUnrestricted(
                Objects.requireNonNull(namespace, "namespace is null: name the namespace of the object"),
                Objects.requireNonNull(name, "name is null: name the object"));
        T object = store.get(namespace, name, consistency);
        store.requireFree(namespace, name);
        return object;
    }

    @Override
    public CompletableFuture<T> getObjectAsync(String namespace, String name) {
        T hit = store.ifHit(namespace, name);
        if (hit != null) {
            return CompletableFuture.completedFuture(hit);
        }
        CompletableFuture<T> result = new CompletableFuture<>();
        if (store.isRestricted(namespace, name)) {
            result.completeExceptionally(new NotRegistered(store.kind(), ObjectKey.of(namespace, name)));
        } else {
            finish(store.getAsync(namespace, name), () -> store.requireFree(namespace, name), result);
        }
        return result;
    }

    @Override
    public Map<ObjectKey, T> getObjects(Set<ObjectKey> wanted) {
        return gathered(wanted, key -> getObjectAsync(key.namespace(), key.name()));
    }

    private Map<ObjectKey, T> gathered(Set<ObjectKey> wanted, Function<ObjectKey, CompletableFuture<T>> read) {
        Map<ObjectKey, CompletableFuture<T>> reads = new LinkedHashMap<>();
        Objects.requireNonNull(wanted, "keys").forEach(key -> reads.put(key, read.apply(key)));
        ImmutableMap.Builder<ObjectKey, T> found = ImmutableMap.builder();
        reads.forEach((key, reading) -> {
            try {
                found.put(key, reading.get());
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
        KnownObject<T> known = store.known(keys.apply(namespace, name));
        // what is known was read at one moment: its references, too
        return known == null || known.restricted().size() == known.referrers().size()
                ? Optional.empty()
                : Optional.ofNullable(known.object());
    }

    /** Returns whether an object was read at least once, or is not referenced any more. */
    final boolean isRead(ObjectKey key) {
        KnownObject<T> known = store.known(key);
        return known == null || isRead(known.state().cacheState());
    }

    /** Returns whether an object in this state was read. One that was evicted since counts as not read. */
    static boolean isRead(CacheState state) {
        return switch (state) {
            case UNREAD, NOT_SYNCED, WAITING_FOR_ACCESS, FORBIDDEN -> false;
            case FRESH, STALE, ABSENT -> true;
        };
    }

    @Override
    public AutoCloseable listen(Executor executor, Consumer<ObjectEvent<T>> listener) {
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(listener, "listener");
        return Subscription.open(this, executor, listener);
    }

    @Override
    public AutoCloseable listen(
            Executor executor, Duration gather, BiConsumer<Referrer, List<ObjectEvent<T>>> listener) {
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(listener, "listener");
        return new GatheredEvents<>(this, executor, Durations.positive("gather", gather), listener);
    }

    @Override
    public ObjectState state(String namespace, String name) {
        return store.state(keys.apply(namespace, name));
    }

    /** A manager that counts hits. A class of its own, so that a cache without counting has no check on each hit. */
    static final class Counting<T> extends StoreManager<T> {

        private final LongAdder hits;

        Counting(
                Registrations registrations,
                LongAdder hits,
                Store<T> store,
                BiFunction<String, String, ObjectKey> keys,
                Function<Pod, ObjectNeeds> references) {
            super(registrations, store, keys, references);
            this.hits = hits;
        }

        @Override
        public T getObject(String namespace, String name) {
            T hit = store.ifHit(namespace, name);
            if (hit == null) {
                return super.getObject(namespace, name);
            }
            hits.increment();
            return hit;
        }

        @Override
        public T getObject(Referrer owner, String namespace, String name) {
            T hit = ownersHit(owner, namespace, name);
            if (hit == null) {
                return super.getObject(owner, namespace, name);
            }
            hits.increment();
            return hit;
        }

        @Override
        public CompletableFuture<T> getObjectAsync(Referrer owner, String namespace, String name) {
            T hit = ownersHit(owner, namespace, name);
            if (hit == null) {
                return super.getObjectAsync(owner, namespace, name);
            }
            hits.increment();
            return CompletableFuture.completedFuture(hit);
        }

        @Override
        public CompletableFuture<T> getObjectAsync(String namespace, String name) {
            T hit = store.ifHit(namespace, name);
            if (hit == null) {
                return super.getObjectAsync(namespace, name);
            }
            hits.increment();
            return CompletableFuture.completedFuture(hit);
        }
    }
}
