package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import dev.podcache.time.Timekeeper;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Holds objects of one kind while they are referenced, and reports when what it knows of one has changed. Thread-safe.
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
 * <p><b>Restricted references.</b> A get does not ask who reads: it returns also an object whose references are all {@link
 * Restricted}. Who hands its result out to a read without an owner asks {@link #isRestricted} before it, and {@link #requireFree}
 * after it.
 *
 * <p><b>Strategy GET</b> keeps nothing: it ignores references, knows no object and has no changes to report.
 *
 * <p>Follows {@code Store} of the kubelet's {@code pkg/kubelet/util/manager/manager.go}.
 *
 * @param <T> the model class
 */
public sealed interface Store<T> permits DirectObjectStore, EntryStore, PartlyPolledStore {

    /** Returns the kind of the objects. */
    ObjectKind<?> kind();

    /** Returns the source of time and timers of this store. */
    Timekeeper timekeeper();

    /**
     * Adds a reference and clears the held answer, so that the next get asks anew; see above for exceptions. References
     * are counted: each needs its own {@link #deleteReference}. Returns at once; makes no request and waits for none.
     *
     * @param effects takes what follows: to open a watch, to call observers and metrics. The caller runs each once, in this
     *     order, soon and under no lock
     * @throws IllegalStateException if the store is closed
     */
    void addReference(ObjectKey key, Referrer referrer, Consumer<Runnable> effects);

    /** Adds a reference like {@link #addReference(ObjectKey, Referrer, Consumer)}, and runs what follows. */
    default void addReference(ObjectKey key, Referrer referrer) {
        addReference(key, referrer, Runnable::run);
    }

    /**
     * Takes back one reference that was added with a {@code referrer} equal to this one, and drops the object with its
     * last reference: its watch is closed, and the gets that wait for it throw {@code NotRegistered}. Ignores a
     * reference that was never added or is gone, as all are once the store is closed. Makes no request and waits for
     * none.
     *
     * @param effects takes what follows: to close a watch, to end gets, to call observers and metrics. The caller runs each
     *     once, in this order, soon and under no lock
     */
    void deleteReference(ObjectKey key, Referrer referrer, Consumer<Runnable> effects);

    /** Takes back a reference like {@link #deleteReference(ObjectKey, Referrer, Consumer)}, and runs what follows. */
    default void deleteReference(ObjectKey key, Referrer referrer) {
        deleteReference(key, referrer, Runnable::run);
    }

    /**
     * Returns the object, from memory where the strategy allows it, otherwise from the API server.
     *
     * <p>A cache hit takes no lock and allocates nothing. Otherwise the call blocks, at most for the read timeout, or
     * under strategy WATCH for the first-sync timeout, which counts from the moment the list is written to the server; until
     * the server is reached for the first time, ten seconds more. Names are checked only if there is no hit.
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

    /**
     * Returns the object if a get would return it from memory without counting as a miss or as stale, else null. Marks
     * the object as read. An object whose references are all {@link Restricted} is no hit.
     */
    @Nullable
    T ifHit(String namespace, String name);

    /**
     * Returns the object like {@link #ifHit}, also if all its references are {@link Restricted}: the caller must know that
     * this read may see it. Takes no lock and allocates nothing.
     */
    @Nullable
    T ifRestrictedHit(String namespace, String name);

    /** Returns whether an object is referenced, and all references to it are {@link Restricted}. Takes no lock. */
    boolean isRestricted(String namespace, String name);

    /**
     * Requires that a read without an owner may see now what this store returned before: a reference to the object is not
     * {@link Restricted}. Without effect if this store keeps no references. Takes no lock.
     *
     * @throws dev.podcache.object.ObjectUnavailableException.NotRegistered if there is no such reference
     * @throws dev.podcache.object.ObjectUnavailableException.Closed if this store is closed
     */
    void requireFree(String namespace, String name);

    /** Returns the state of the object, without its content. Makes no request and returns at once. */
    ObjectState state(ObjectKey key);

    /**
     * Returns what is known of the object and its state, all at one moment; null if it is not referenced. Makes no
     * request and returns at once.
     */
    @Nullable
    KnownObject<T> known(ObjectKey key);

    /**
     * Returns what the watches of this store select: an object, or all objects of a namespace, which then has no name. A
     * snapshot. Empty by default.
     */
    default Set<ObjectKey> watched() {
        return Set.of();
    }

    /**
     * Closes a watch, because our credentials may not watch any more what it selects: the API server decides when a watch
     * begins, and an open one goes on. What it selects is asked for again as after any refusal. Without effect if there is
     * no such watch, and by default.
     *
     * @param selection one of {@link #watched}
     */
    default void revoked(ObjectKey selection, ApiServerException cause) {}

    /** Returns the referenced objects; a snapshot. */
    Set<ObjectKey> keys();

    /** Returns how often the held objects have changed. */
    ChangeCounts changes();

    /**
     * Calls {@code changed} with the key of an object after the known object or its staleness has changed, and after
     * its last reference was deleted. The calls come on any thread, several at a time, under no lock of the store; they
     * must return at once. A call says only that something may have changed; {@link #known} returns what is known now.
     *
     * @return ends the calls; one that has begun may go on
     * @throws IllegalStateException if the store is closed, or keeps nothing
     */
    Runnable observe(Consumer<ObjectKey> changed);

    /**
     * Calls {@code changed} like {@link #observe}, but has no effect on watches: those of objects that are not read are
     * closed. A store that is closed, or keeps nothing, never calls it.
     *
     * @return ends the calls; one that has begun may go on
     */
    Runnable observePassively(Consumer<ObjectKey> changed);
}
