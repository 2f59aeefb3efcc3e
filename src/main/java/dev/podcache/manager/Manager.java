package dev.podcache.manager;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.ObjectState;
import dev.podcache.store.Store;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The objects of one kind that registered pods and other registered owners refer to. Thread-safe.
 *
 * <p>Register a pod before its objects are needed, each time it is synced, and unregister it when it is gone:
 * registering an unchanged pod again costs next to nothing, and neither call touches the network or waits for a
 * request. A pod is its namespace, name <em>and</em> UID, so the late unregister of a deleted pod does not
 * touch its successor of the same name.
 *
 * <p>Follows {@code Manager} of the kubelet's {@code pkg/kubelet/util/manager/manager.go}.
 *
 * @param <T> the model class
 */
public interface Manager<T> {

    /**
     * Returns the object, from memory where the strategy allows it, otherwise from the API server; see {@link
     * Store#get} for what it promises.
     *
     * <p>Blocks at most for the read timeout; a hit blocks not at all.
     *
     * @return shared by all callers: must not be modified
     * @throws dev.podcache.object.ObjectUnavailableException why there is no object; under GET never NotRegistered
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    T getObject(String namespace, String name);

    /**
     * Registers a pod: from now on it holds the objects that it refers to, and none that it referred to before. Objects that are new to the pod are read anew at the next get; under WATCH, one whose watch is broken is served as
     * it was known, marked stale, if that takes longer than the first-sync timeout. Idempotent: the same UID with the same
     * resourceVersion is not looked at again. Returns at once.
     *
     * @param pod as the API server returned it, with metadata, UID and spec; not kept
     * @throws IllegalArgumentException if namespace, name, UID or spec is missing; nothing has changed then
     * @throws IllegalStateException if the cache is closed and the pod refers to anything new; never under GET, which
     *     keeps nothing
     */
    void registerPod(Pod pod);

    /**
     * Unregisters a pod: releases what its last registration holds, whatever the argument refers to. A pod that is not
     * registered is ignored. Returns at once.
     *
     * @param pod of which only namespace, name and UID are looked at
     * @throws IllegalArgumentException if one of those is missing
     */
    void unregisterPod(Pod pod);

    /**
     * Registers an owner other than a pod, such as an operator's custom resource, see {@link Referrer#of}: from now on
     * it holds {@code objects}, of any namespaces, and nothing that it held before. Returns at once.
     *
     * @param objects of which a copy is kept; a key that is {@linkplain ObjectKey#isLegal not legal} is taken, as in a
     *     pod, but never asked for: make keys with {@link ObjectKey#validated}
     * @throws IllegalStateException if the cache is closed and an object is new; never under GET, which keeps nothing
     */
    void register(Referrer referrer, Set<ObjectKey> objects);

    /** Releases what {@code referrer} holds. One that is not registered is ignored. Returns at once. */
    void unregister(Referrer referrer);

    /**
     * Returns the state of the object, without its content. Makes no request and returns at once.
     *
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    ObjectState state(String namespace, String name);

    /**
     * Subscribes a listener to the changes of all registered objects of this kind. Every object that is known already is
     * reported once as {@link ObjectEvent.Type#ADDED}, marked {@link ObjectEvent#initial}.
     *
     * <p>Events of one object come in order and one at a time; events of several objects come at the same time if the
     * executor has several threads. A slow listener misses states in between, never the last one, and nothing piles up.
     * An answer that repeats what is known is no event. What a listener throws is logged. No event begins after the
     * subscription or the cache was closed, or after the last reference to its object went.
     *
     * <p>Under {@link ChangeDetectionStrategy#WATCH} events come as soon as the API server sends them, also for objects
     * that nobody reads: while a listener is subscribed, no watch of this kind is closed as idle, and those that were
     * closed are opened again, their objects STALE until they are synced. Under {@link ChangeDetectionStrategy#CACHE} a
     * change is seen by the first get after the TTL. Listeners cost a cache hit nothing.
     *
     * @param executor runs the listener; a direct one would have the listener hold up the threads of the network
     * @return ends the subscription when it is closed
     * @throws IllegalStateException under {@link ChangeDetectionStrategy#GET}, which keeps nothing
     */
    AutoCloseable listen(Executor executor, Consumer<ObjectEvent<T>> listener);

    /**
     * Returns a manager that adds references to {@code store} for what registered pods refer to.
     *
     * @param references what a pod refers to; called on the thread that registers, outside all locks
     */
    static <T> Manager<T> caching(Store<T> store, Function<Pod, ? extends Set<ObjectKey>> references) {
        return new Registrations().manager(store, ObjectKey::validated, pod -> ObjectNeeds.of(references.apply(pod)));
    }

    /**
     * Returns a manager that keeps no references: registering and unregistering only check the pod, and gets ask the
     * store for whatever they are given.
     */
    static <T> Manager<T> simple(Store<T> store) {
        return new StoreManager<>(store, ObjectKey::validated);
    }
}
