package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import java.util.concurrent.CompletableFuture;

/**
 * Holds objects of one kind while they are referenced. Thread-safe.
 *
 * <p><b>Identity.</b> An object is identified by namespace and name. The returned object is shared by all callers: it
 * must not be modified. An object that is deleted and created again under its name is, to the store, the same object in
 * a later state.
 *
 * <p><b>Lifetime.</b> An object is held from its first {@link #addReference} until each addition was undone by a {@link
 * #deleteReference}. Then it is dropped: its content is unreachable from the store at once.
 *
 * <p><b>Skipped states.</b> A store shows states of an object, not every state: of two changes in quick succession, the
 * first may never be seen.
 *
 * <p><b>Registration.</b> A new reference clears the held answer. A get that begins after {@code addReference} has
 * returned is never answered by a request that began before the call. {@link WatchObjectStore} has two exceptions. A
 * reference to an object with a live watch clears nothing, because the watch keeps the object up to date. If the watch
 * is broken, a get waits for a request that began after the new reference, but after the first-sync timeout it returns
 * the last known object as stale: a pod that starts while the API server is down gets an object late rather than never.
 *
 * <p><b>Order.</b> Between two new references to an object, gets never return an older resourceVersion than an earlier
 * get, unless a quorum read of the API server returned it (its storage was restored from a backup).
 *
 * <p><b>Staleness.</b> The implementations define how old an answer may be. While the API server cannot be asked, a
 * known object is still returned; {@link #state} then says STALE, and why.
 *
 * <p><b>NotFound is an answer.</b> That an object does not exist is an answer of the API server, not a failure, and
 * replaces the known object. Only a live watch makes it fresh; otherwise the next get asks again.
 *
 * <p>Follows {@code Store} of the kubelet's {@code pkg/kubelet/util/manager/manager.go}.
 *
 * @param <T> the model class
 */
public interface Store<T> {

    /** Returns the kind of the objects. */
    ObjectKind<?> kind();

    /**
     * Adds a reference and clears the held answer, so that the next get asks anew; see above for exceptions. References
     * are counted: each needs its own {@link #deleteReference}. Returns at once; makes no request and waits for none.
     *
     * @throws IllegalStateException if the store is closed
     */
    void addReference(ObjectKey key, Referrer referrer);

    /**
     * Takes back one reference of {@code referrer} and drops the object with its last reference. Ignores a reference
     * that was never added. Returns at once.
     */
    void deleteReference(ObjectKey key, Referrer referrer);

    /**
     * Returns the object, from memory where the strategy allows it, otherwise from the API server.
     *
     * <p>A cache hit takes no lock and allocates nothing. Otherwise the call blocks, at most for the read timeout, or
     * under strategy WATCH for the first-sync timeout. Names are checked only if there is no hit.
     *
     * @return shared: must not be modified
     * @throws dev.podcache.object.ObjectUnavailableException.NotRegistered if the object is not referenced; no request
     *     was made
     * @throws dev.podcache.object.ObjectUnavailableException.NotFound if the API server answered that the object does
     *     not exist
     * @throws dev.podcache.object.ObjectUnavailableException.FetchFailed if no answer is held and the fetch failed, or
     *     if the thread was interrupted; its interrupt status is then set
     * @throws dev.podcache.object.ObjectUnavailableException.NotSynced if, under strategy WATCH, no answer is held and
     *     the object was not listed and watched within the first-sync timeout
     * @throws dev.podcache.object.ObjectUnavailableException.Closed if the store was closed before or during the call
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    T get(String namespace, String name);

    /** Returns the object that {@code key} names, like {@link #get(String, String)}. */
    default T get(ObjectKey key) {
        return get(key.namespace(), key.name());
    }

    /**
     * Returns the object as {@code consistency} promises: from memory if the held object fulfils it, otherwise by a
     * quorum read that begins after this call. Gets that ask while a quorum read is in flight share the next one,
     * except under strategy GET. A read that fails throws {@code FetchFailed}, even if an object is held. Blocks at
     * most for the read timeout. Otherwise throws what {@link #get(String, String)} throws.
     */
    T get(String namespace, String name, ReadConsistency consistency);

    /**
     * Returns the object like {@link #get(String, String)}, without blocking. No thread waits meanwhile. A hit is
     * complete when it is returned; otherwise the future completes on a thread of the cache, within the time for which
     * a get would block. Cancelling it has no effect on other gets.
     *
     * @return completes exceptionally with what a get would throw
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    CompletableFuture<T> getAsync(String namespace, String name);

    /** Returns the state of the object, without its content. Makes no request and returns at once. */
    ObjectState state(ObjectKey key);
}
