package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of a small Kubernetes cluster, with the semantics of its API server but without HTTP: nodes, namespaces,
 * pods, secrets, config maps, services, events and leases. Thread-safe. Methods block only for short critical sections.
 *
 * <p>Implements what clients rely on: one increasing resourceVersion, optimistic locking, the status subresource,
 * graceful deletion of pods, immutable Secrets and ConfigMaps, and reads and watches from a watch cache with a bounded
 * history that {@linkplain #holdWatchCache() can lag}. Differences from a kube-apiserver: creating an object creates
 * its namespace if missing (as the admission plugin NamespaceAutoProvision does); a read at a future resourceVersion is
 * refused at once instead of after 3 s; specs get no defaults and only their types are validated. A pod for a node
 * agent must therefore set {@code enableServiceLinks} itself, and its volumes {@code defaultMode}.
 *
 * <p>Every refused request throws a {@link StatusException}. Returned trees are shared: callers must not modify them.
 */
public final class InMemoryCluster implements AutoCloseable {

    // One lock guards the storage, its watch caches and the set of open watches. Events are queued under the lock, in
    // the order of the changes, and delivered after the lock is released, by the thread that made the change. When a
    // write returns, its events have been delivered to every watch, except to a watch whose events another thread is
    // delivering at that moment.

    private static final int HISTORY_LIMIT = 1024;
    private static final Duration BOOKMARK_PERIOD = Duration.ofMinutes(1);
    private static final ImmutableList<String> FIRST_NAMESPACES =
            ImmutableList.of("default", "kube-node-lease", "kube-public", "kube-system");

    private final Object lock = new Object();
    private final Storage storage; // guarded by lock
    private final Registry registry; // guarded by lock
    private final Timekeeper timekeeper;
    private final Watches watches;
    private final RequestCounts counts = new RequestCounts();

    private InMemoryCluster(Timekeeper timekeeper, int historyLimit, Duration bookmarkPeriod) {
        this.timekeeper = Objects.requireNonNull(timekeeper, "timekeeper");
        this.storage = new Storage(historyLimit);
        this.registry = new Registry(storage, timekeeper);
        this.watches = new Watches(lock, storage, timekeeper, bookmarkPeriod);
    }

    /**
     * Creates an empty cluster with the defaults of a kube-apiserver: a history of 1,024 changes per resource and a
     * bookmark per minute.
     */
    public static InMemoryCluster create(Timekeeper timekeeper) {
        return create(timekeeper, HISTORY_LIMIT, BOOKMARK_PERIOD);
    }

    /**
     * Creates an empty cluster.
     *
     * @param timekeeper supplies timestamps and schedules bookmarks and timeouts; closing the cluster does not close it
     * @param historyLimit the number of changes per resource from which a watch can resume; at least 1
     * @param bookmarkPeriod the interval between the bookmarks of a watch; positive
     * @throws IllegalArgumentException if {@code historyLimit} or {@code bookmarkPeriod} is not positive
     */
    public static InMemoryCluster create(Timekeeper timekeeper, int historyLimit, Duration bookmarkPeriod) {
        if (historyLimit < 1 || bookmarkPeriod.isZero() || bookmarkPeriod.isNegative()) {
            throw new IllegalArgumentException("historyLimit " + historyLimit + " and bookmarkPeriod "
                    + Durations.text(bookmarkPeriod) + " must be positive");
        }
        InMemoryCluster cluster = new InMemoryCluster(timekeeper, historyLimit, bookmarkPeriod);
        FIRST_NAMESPACES.forEach(cluster::createNamespace);
        return cluster;
    }

    private void createNamespace(String name) {
        write(() -> {
            registry.ensureNamespaceLocked(name);
            return null;
        });
    }

    /** Returns the numbers of requests to this cluster, including refused ones. */
    public RequestCounts requests() {
        return counts;
    }

    // Methods that take the model classes of fabric8

    /**
     * Creates an object and returns it as stored.
     *
     * @throws StatusException 409 if the object exists, 400 or 422 if it is invalid
     */
    public <T extends HasMetadata> T create(T object) {
        Resource resource = Resource.of(object.getClass());
        ObjectNode body = Json.tree(object);
        return typed(
                object, create(resource, body.path("metadata").path("namespace").asText(), body));
    }

    /**
     * Returns the latest committed state of an object.
     *
     * @throws StatusException 404 if the object does not exist
     */
    public <T extends HasMetadata> T get(Class<T> model, String namespace, String name) {
        return Json.model(get(Resource.of(model), ObjectKey.of(namespace, name), ""), model);
    }

    /**
     * Replaces an object, except for its status, and returns it as stored.
     *
     * @throws StatusException 404 if the object does not exist, 409 if its resourceVersion is set and not the latest,
     *     400 or 422 if it is invalid
     */
    public <T extends HasMetadata> T update(T object) {
        return typed(
                object, update(Resource.of(object.getClass()), keyOf(object), ObjectPart.OBJECT, Json.tree(object)));
    }

    /**
     * Replaces the status, labels and annotations of an object and returns it as stored.
     *
     * @throws StatusException as for {@link #update(HasMetadata)}
     */
    public <T extends HasMetadata> T updateStatus(T object) {
        return typed(
                object, update(Resource.of(object.getClass()), keyOf(object), ObjectPart.STATUS, Json.tree(object)));
    }

    /**
     * Deletes the object with this name, as {@code kubectl delete} does. An unfinished pod that has a node is only
     * marked for deletion.
     *
     * @throws StatusException 404 if the object does not exist
     */
    public void delete(HasMetadata object) {
        delete(Resource.of(object.getClass()), keyOf(object), DeleteOptions.DEFAULT);
    }

    /**
     * Deletes the object with this name at once, as {@code kubectl delete --force --grace-period=0} does.
     *
     * @throws StatusException 404 if the object does not exist
     */
    public void deleteNow(HasMetadata object) {
        delete(Resource.of(object.getClass()), keyOf(object), DeleteOptions.NOW);
    }

    // Methods that take JSON trees

    /**
     * Creates an object.
     *
     * @param namespace the namespace; empty if {@code body} contains it or the resource is cluster-scoped
     * @return the object as stored
     * @throws StatusException 409 if the object exists, 400 or 422 if it is invalid
     */
    public ObjectNode create(Resource resource, String namespace, ObjectNode body) {
        counts.add(Verb.CREATE, resource);
        ObjectKey key = ObjectNames.forCreate(resource, namespace, body);
        ObjectNode object = WriteRules.created(resource, key, body, timekeeper.wallTime());
        return write(() -> registry.createLocked(resource, key, object));
    }

    /**
     * Returns an object.
     *
     * @param resourceVersion "" for the latest committed state; otherwise, the state in the watch cache, which must not
     *     be older than this version. "0" accepts any state
     * @throws StatusException 404 if the object does not exist, 504 if the watch cache is older than
     *     {@code resourceVersion}
     */
    public ObjectNode get(Resource resource, ObjectKey key, String resourceVersion) {
        counts.add(Verb.GET, resource);
        synchronized (lock) {
            return registry.getLocked(resource, key, resourceVersion);
        }
    }

    /**
     * Returns the selected objects.
     *
     * @param resourceVersion as for {@link #get(Resource, ObjectKey, String)}
     * @throws StatusException 504 if the watch cache is older than {@code resourceVersion}
     */
    public ObjectList list(Resource resource, Selection selection, String resourceVersion) {
        counts.add(Verb.LIST, resource);
        synchronized (lock) {
            return registry.listLocked(resource, selection, resourceVersion);
        }
    }

    /**
     * Watches the selected objects in the watch cache. As in a kube-apiserver, a watch from a resourceVersion that is
     * no longer in the history receives an ERROR event with code 410.
     */
    public ClusterWatch watch(Resource resource, Selection selection, WatchOptions options, WatchListener listener) {
        counts.add(Verb.WATCH, resource);
        return watches.open(resource, selection, options, listener);
    }

    /**
     * Replaces one part of an object. An update that changes nothing keeps the resourceVersion.
     *
     * @return the object as stored
     * @throws StatusException 404 if the object does not exist, 409 on a conflict, 400 or 422 if {@code body} is
     *     invalid
     */
    public ObjectNode update(Resource resource, ObjectKey key, ObjectPart part, ObjectNode body) {
        counts.add(Verb.UPDATE, resource);
        ObjectNames.requireMatch(resource, key, body);
        return write(() -> registry.replaceLocked(resource, key, part, body));
    }

    /**
     * Patches one part of an object. A patch that changes nothing keeps the resourceVersion.
     *
     * @return the object as stored
     * @throws StatusException 404 if the object does not exist, 409 on a conflict, 400 or 422 if {@code patch} is
     *     invalid or does not apply
     */
    public ObjectNode patch(Resource resource, ObjectKey key, ObjectPart part, PatchBody patch) {
        counts.add(Verb.PATCH, resource);
        return write(() -> registry.patchLocked(resource, key, part, patch));
    }

    /**
     * Deletes an object. An unfinished pod that has a node is only marked with a deletionTimestamp. Its kubelet removes
     * it later by a deletion with a grace period of 0.
     *
     * @return the last state of the object
     * @throws StatusException 404 if the object does not exist, 409 if a precondition fails
     */
    public ObjectNode delete(Resource resource, ObjectKey key, DeleteOptions options) {
        counts.add(Verb.DELETE, resource);
        return write(() -> registry.deleteLocked(resource, key, options));
    }

    // Fault injection

    /**
     * Stops the watch cache: until {@link #releaseWatchCache()}, watches receive no events and reads at version "0"
     * return the old state.
     */
    public void holdWatchCache() {
        synchronized (lock) {
            storage.hold(true);
        }
    }

    /** Resumes the watch cache, which then catches up with all changes. */
    public void releaseWatchCache() {
        write(() -> {
            storage.hold(false);
            return null;
        });
    }

    /**
     * Answers every other read of an object from the watch cache as a second, staler API server would: with the state
     * before the last change of the object.
     *
     * @param on whether to alternate
     */
    public void alternateWithStalerServer(boolean on) {
        synchronized (lock) {
            storage.alternate(on);
        }
    }

    /** Clears the history, so that a watch from any version but the latest gets 410. */
    public void forgetHistory() {
        synchronized (lock) {
            for (Resource resource : Resource.values()) {
                storage.cache(resource).forgetHistory(storage.cachedRevision());
            }
        }
    }

    /** Returns the resourceVersion of the last committed change. */
    public String resourceVersion() {
        synchronized (lock) {
            return Long.toUnsignedString(storage.revision());
        }
    }

    /** Returns the number of open watches of a resource. */
    public int openWatches(Resource resource) {
        return watches.count(resource);
    }

    /** Returns the number of open watches. */
    public int openWatches() {
        int count = 0;
        for (Resource resource : Resource.values()) {
            count += openWatches(resource);
        }
        return count;
    }

    /** Ends all watches, and later watches as soon as they are opened. Reads and writes still work. Idempotent. */
    @Override
    public void close() {
        watches.close();
    }

    /** Returns the current time, from which timestamps are made. */
    Instant now() {
        return timekeeper.wallTime();
    }

    private <R extends @Nullable Object> R write(Supplier<R> step) {
        R result;
        ImmutableList<Watcher> pending;
        synchronized (lock) {
            result = step.get();
            pending = storage.updateCaches();
        }
        pending.forEach(Watcher::deliver);
        return result;
    }

    private static ObjectKey keyOf(HasMetadata object) {
        String namespace = object.getMetadata().getNamespace();
        return ObjectKey.of(
                namespace == null ? "" : namespace, object.getMetadata().getName());
    }

    @SuppressWarnings("unchecked") // the class of a T is a Class of T
    private static <T extends HasMetadata> T typed(T like, ObjectNode json) {
        return Json.model(json, (Class<T>) like.getClass());
    }
}
