package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;

/**
 * Holds objects of one kind for as long as they are referenced. Thread-safe.
 *
 * <p><b>Identity.</b> An object is its namespace and name. What a get returns is shared by all callers: it must not be
 * modified. An object deleted and created again under its name is, to the store, the same object in a later state.
 *
 * <p><b>Lifetime.</b> An object is held from its first {@link #addReference} until each of them has had its {@link
 * #deleteReference}. Then it is dropped: its content is unreachable from the store at once.
 *
 * <p><b>What may be skipped.</b> A store shows states of an object, not every state: of two changes in quick succession
 * only the second may ever be seen.
 *
 * <p><b>Registration.</b> A new reference forgets the answer that was held. A get that begins after {@code
 * addReference} returned is never answered by a request that began before it was called. Two exceptions, both of {@link
 * WatchObjectStore}: a reference that joins a live watch forgets nothing, as nothing newer is known. And if the watch is
 * broken, a get waits for a request that began after the reference, but after the first-sync timeout it is served what
 * was known before, as stale: a pod that starts while the API server is down gets an object late rather than never.
 *
 * <p><b>Order.</b> Gets that begin between two new references to an object never go back to an older resourceVersion of
 * it, unless the API server itself said so in a quorum read (its storage was restored from a backup).
 *
 * <p><b>Staleness.</b> How old an answer may be is the strategy's to say, see the implementations. When the API server
 * cannot be asked, an object that is known keeps being served; {@link #state} then says STALE, and why.
 *
 * <p><b>NotFound is an answer.</b> That there is no such object is what the API server said, not a failure to ask it,
 * and replaces what was known before. It is never taken for fresh: the next get asks again.
 *
 * <p>Follows {@code Store} of the kubelet's {@code pkg/kubelet/util/manager/manager.go}.
 *
 * @param <T> the model class
 */
public interface Store<T> {

    /**
     * Adds a reference and forgets the answer that is held, so that the next get asks anew; for exceptions see above.
     * Counted: each needs its own {@link #deleteReference}. Returns at once, makes no request, never waits for one.
     *
     * @throws IllegalStateException if the store is closed
     */
    void addReference(ObjectKey key, Referrer referrer);

    /**
     * Takes back one reference of that referrer, and with the last of all drops the object. One that was never added is
     * ignored. Returns at once.
     */
    void deleteReference(ObjectKey key, Referrer referrer);

    /**
     * Returns the object, from memory where the strategy allows it, otherwise from the API server.
     *
     * <p>A hit takes no lock and allocates nothing. Otherwise the call blocks, at most for the read timeout. Names are
     * looked at only when there is no hit.
     *
     * @return shared: must not be modified
     * @throws dev.podcache.object.ObjectUnavailableException.NotRegistered if the object
     *     is not referenced; no request was made
     * @throws dev.podcache.object.ObjectUnavailableException.NotFound if the API server said
     *     that there is no such object
     * @throws dev.podcache.object.ObjectUnavailableException.FetchFailed if nothing is known of the object and asking
     *     failed, or if the thread was interrupted, which then still is
     * @throws dev.podcache.object.ObjectUnavailableException.Closed if the store is closed, or
     *     was while the call waited
     * @throws IllegalArgumentException if namespace or name is not a legal Kubernetes name
     */
    T get(String namespace, String name);

    /** Returns the state of the object, without its content. Makes no request and returns at once. */
    ObjectState state(ObjectKey key);
}
