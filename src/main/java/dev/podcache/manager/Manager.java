package dev.podcache.manager;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Reads the objects of one kind that registered pods and other registered owners refer to. Thread-safe.
 *
 * <p>Register a pod before its objects are needed, and again at each sync; unregister it when it is gone. Registering
 * an unchanged pod costs next to nothing. Neither call touches the network or waits for a request. A pod is identified
 * by namespace, name <em>and</em> UID, so unregistering a deleted pod late does not affect its successor of the same
 * name.
 *
 * <p>Reads for an owner have a default only for implementations that users wrote before there were such reads: it throws
 * {@link UnsupportedOperationException}. Those of a cache have them all.
 *
 * <p>Follows {@code Manager} of the kubelet's {@code pkg/kubelet/util/manager/manager.go}.
 *
 * @param <T> the model class
 */
public interface Manager<T> {

    /**
     * Returns the object, from memory where the strategy allows it, otherwise from the API server.
     *
     * <p>A cache hit does not block. Otherwise the call blocks at most for the read timeout, or under
     * {@link ChangeDetectionStrategy#WATCH} for the first-sync timeout, and until the server is reached for the
     * first time for ten seconds more.
     *
     * <p>An object that only owners with a subject hold is not registered for this read: each of them reads it as {@link
     * #getObject(Referrer, String, String)}. That holds for every read without an owner.
     *
     * @return shared by all callers: must not be modified
     * @throws dev.podcache.object.ObjectUnavailableException if there is no object, with the reason; never
     *     NotRegistered under GET
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    T getObject(String namespace, String name);

    /**
     * Returns the object for an owner that has registered it, as {@link #getObject(String, String)} does. For an owner that
     * reads on behalf of a subject, only while the API server says that the subject may get it.
     *
     * <p>A cache hit does not block. Otherwise the call waits for the first review of what the subject may get, at most ten
     * seconds, and then as for a read without an owner. While another call registers or unregisters the owner, a read of what
     * it does not hold waits for that call, which makes no request.
     *
     * @param owner with the subject that it was registered with last
     * @throws dev.podcache.object.ObjectUnavailableException.Denied if the subject may not get the object, or it is not
     *     known whether he may; with the reason
     * @throws dev.podcache.object.ObjectUnavailableException.NotRegistered if the owner has not registered the object; under
     *     {@link ChangeDetectionStrategy#GET} only for an owner with a subject
     * @throws dev.podcache.object.ObjectUnavailableException if there is no object, with the reason
     * @throws IllegalArgumentException if the owner is registered with another subject, or with one and {@code owner} has
     *     none; or if namespace or name is not a legal Kubernetes name
     */
    default T getObject(Referrer owner, String namespace, String name) {
        throw new UnsupportedOperationException("this manager has no reads for owners");
    }

    /**
     * Registers a pod. From now on it holds the objects that it refers to, and releases the objects that only its
     * previous registration referred to. The next get of an object that is new to the pod reads it again. Under WATCH,
     * if the object's watch is broken, such a get waits at most for the first-sync timeout and then returns the last
     * known object, marked stale.
     *
     * <p>Idempotent: a pod with the same UID and resourceVersion is not examined again. Returns at once.
     *
     * @param pod as the API server returned it, with metadata, UID and spec; not kept
     * @throws IllegalArgumentException if namespace, name, UID or spec is missing; nothing has changed then
     * @throws IllegalStateException if the cache is closed and the pod refers to a new object; never under GET, which
     *     keeps no references
     */
    void registerPod(Pod pod);

    /**
     * Unregisters a pod: releases the objects that its last registration holds, whatever the argument refers to.
     * Ignores a pod that is not registered. Returns at once.
     *
     * @param pod only namespace, name and UID are used
     * @throws IllegalArgumentException if namespace, name or UID is missing
     */
    void unregisterPod(Pod pod);

    /**
     * Registers an owner other than a pod, such as an operator's custom resource; see {@link Referrer#of}. From now on
     * it holds {@code objects}, in any namespaces, and no others. Returns at once.
     *
     * <p>An owner on behalf of a subject may read an object from the first review that allows it. The subject that was
     * registered last counts for the objects of all kinds that the owner holds. With another one, or another one's groups,
     * the owner may read nothing until that is reviewed; this takes effect in one step.
     *
     * @param objects copied. A key that is {@linkplain ObjectKey#isLegal not legal} is accepted, as in a pod, but never
     *     requested: make keys with {@link ObjectKey#validated}
     * @throws IllegalStateException if the cache is closed and an object is new; never under GET, which keeps no
     *     references
     */
    void register(Referrer referrer, Set<ObjectKey> objects);

    /** Releases the objects that {@code referrer} holds. Ignores a referrer that is not registered. Returns at once. */
    void unregister(Referrer referrer);

    /**
     * Returns the state of the object, without its content. Makes no request and returns at once.
     *
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    ObjectState state(String namespace, String name);

    /**
     * Returns the object like {@link #getObject}, or empty if the API server answered that there is none and no later
     * check has failed.
     *
     * @throws dev.podcache.object.ObjectUnavailableException for every other reason why there is no object; NotFound if
     *     there was none, and a later check failed, so that it may exist by now
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    Optional<T> findObject(String namespace, String name);

    /**
     * Returns the object for an owner like {@link #getObject(Referrer, String, String)}, or empty as {@link
     * #findObject(String, String)} does.
     */
    default Optional<T> findObject(Referrer owner, String namespace, String name) {
        throw new UnsupportedOperationException("this manager has no reads for owners");
    }

    /**
     * Returns the object as {@code consistency} promises: from memory if the object there fulfils it, otherwise by a
     * quorum read that begins after this call. Gets that ask while a quorum read is in flight share the next one. Later
     * gets return no older object, except under {@link ChangeDetectionStrategy#WATCH} while the watch of the object is
     * closed or being opened. Blocks at most for the read timeout, under {@link ChangeDetectionStrategy#WATCH} too.
     * Under {@link ChangeDetectionStrategy#GET} every get is a quorum read of its own.
     *
     * @return shared by all callers: must not be modified
     * @throws dev.podcache.object.ObjectUnavailableException if there is no object, or if the read failed, even if an
     *     object is in memory
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    T getObject(String namespace, String name, ReadConsistency consistency);

    /**
     * Returns the object as {@code consistency} promises, for an owner: see {@link #getObject(Referrer, String, String)} and
     * {@link #getObject(String, String, ReadConsistency)}. It says how recent the object is, not how recent the review.
     */
    default T getObject(Referrer owner, String namespace, String name, ReadConsistency consistency) {
        throw new UnsupportedOperationException("this manager has no reads for owners");
    }

    /**
     * Returns the object like {@link #getObject(String, String)}, without blocking: no thread waits. For a cache hit,
     * the returned future is complete. Otherwise the future completes within the time for which a get would block, on
     * one of two threads of the cache: use the {@code Async} methods of the future for continuations that take long.
     * Cancelling it has no effect on other gets.
     *
     * @return completes exceptionally with the {@link dev.podcache.object.ObjectUnavailableException} that a get would
     *     throw
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    CompletableFuture<T> getObjectAsync(String namespace, String name);

    /**
     * Returns the object for an owner like {@link #getObject(Referrer, String, String)}, without blocking, as {@link
     * #getObjectAsync(String, String)} does.
     *
     * @throws IllegalArgumentException as {@code getObject}
     */
    default CompletableFuture<T> getObjectAsync(Referrer owner, String namespace, String name) {
        throw new UnsupportedOperationException("this manager has no reads for owners");
    }

    /**
     * Returns several objects, after one wait for all that are not in memory. Leaves out those for which {@link
     * #findObject} is empty.
     *
     * @return by key, in the order of {@code keys}; unmodifiable, its objects too
     * @throws dev.podcache.object.ObjectUnavailableException as {@code findObject} does, for the first such object
     * @throws IllegalArgumentException if a key is not legal
     */
    Map<ObjectKey, T> getObjects(Set<ObjectKey> keys);

    /**
     * Returns several objects for an owner, like {@link #getObjects(Set)}.
     *
     * @throws dev.podcache.object.ObjectUnavailableException as {@link #findObject(Referrer, String, String)} does, for the
     *     first such object
     * @throws IllegalArgumentException as {@code getObject}
     */
    default Map<ObjectKey, T> getObjects(Referrer owner, Set<ObjectKey> keys) {
        throw new UnsupportedOperationException("this manager has no reads for owners");
    }

    /**
     * Returns the object if it is in memory, even if it is stale. Makes no request, never waits, and does not count as
     * a read: it does not keep the watch of an unread object open. Under {@link ChangeDetectionStrategy#GET} always
     * empty.
     *
     * @return shared: must not be modified
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    Optional<T> peek(String namespace, String name);

    /**
     * Returns the object like {@link #peek(String, String)} if it is in memory, the owner has registered it, and may read it
     * now. While another call registers or unregisters the owner, waits for that call as {@code getObject} does.
     *
     * @throws IllegalArgumentException as {@code getObject}
     */
    default Optional<T> peek(Referrer owner, String namespace, String name) {
        throw new UnsupportedOperationException("this manager has no reads for owners");
    }

    /**
     * Subscribes a listener to the changes of all registered objects of this kind. Every object that is known already
     * is reported once as {@link ObjectEvent.Type#ADDED}, marked {@link ObjectEvent#initial}.
     *
     * <p>Events of one object come in order and one at a time; events of several objects come at the same time if the
     * executor has several threads. A slow listener misses states in between, never the last one, and nothing piles up.
     * An answer that repeats what is known is no event. What a listener throws is logged. No event is taken for delivery
     * after the subscription or the cache was closed, or after the last reference to its object went. One that a thread has
     * taken just before may still come: a listener may close its own subscription, so nothing waits for it.
     *
     * <p>An event shows an object only if at least one of its owners may read it, and names only those that may. An owner on
     * behalf of a subject is told of changes of its right by {@link ObjectEvent.Type#DENIED} and {@link
     * ObjectEvent.Type#ALLOWED}, an event for each owner; what was so at the subscription is none. A change of an object is
     * shown with what it was before only to owners that could read that.
     *
     * <p>Under {@link ChangeDetectionStrategy#WATCH} events come as soon as the API server sends them, also for objects
     * that nobody reads: while a listener is subscribed, no watch of this kind is closed as idle, and those that were
     * closed are opened again, their objects STALE until they are synced. Under {@link ChangeDetectionStrategy#CACHE} a
     * change is seen by the first get after the TTL. Listeners cost a cache hit nothing.
     *
     * @param executor runs the listener; a direct one would have the listener hold up the threads of the network
     * @return ends the subscription when it is closed
     * @throws IllegalStateException if the cache is closed, or under {@link ChangeDetectionStrategy#GET}, which keeps
     *     nothing
     */
    AutoCloseable listen(Executor executor, Consumer<ObjectEvent<T>> listener);

    /**
     * Subscribes a listener that is called for the changes of one owner's objects together: once for all that come
     * within {@code gather} after the first of them. Changes of one object are merged into one event, from the state
     * before the first to the state after the last: an object that came and went is left out. Whether the object is stale,
     * and whether the owner may read it, are events of their own. What the owner may not read at the time of the call is left
     * out. The calls come one at a time. Changes of an object that the owner does not hold any more are left out. Otherwise as
     * {@link #listen(Executor, Consumer)}.
     *
     * @param gather positive; the time from the first change to the call
     * @param listener takes an owner and the changes of its objects, at least one, in the order of the last change of
     *     each
     * @throws IllegalArgumentException unless {@code gather} is positive
     * @throws IllegalStateException if the cache is closed, or under {@link ChangeDetectionStrategy#GET}, which keeps
     *     nothing
     */
    AutoCloseable listen(Executor executor, Duration gather, BiConsumer<Referrer, List<ObjectEvent<T>>> listener);
}
