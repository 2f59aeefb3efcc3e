package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of a small Kubernetes cluster as its API server sees it, without the HTTP: nodes, namespaces, pods,
 * secrets, config maps, services, events and leases. Thread-safe; nothing blocks beyond a brief lock.
 *
 * <p>Honest about what clients rely on: one growing resourceVersion, optimistic locking, the status subresource,
 * graceful deletion of pods, immutable Secrets, and reads and watches out of a watch cache that {@linkplain
 * #holdWatchCache() can lag} and that forgets. Differences from a kube-apiserver: a missing namespace is created by the
 * first object in it (as the admission plugin NamespaceAutoProvision does), a version from the future is refused at
 * once instead of after 3 s, and specs are neither completed with defaults nor checked beyond their types. So a pod
 * that a node agent is to run brings its own {@code enableServiceLinks}, and its volumes their {@code defaultMode}.
 *
 * <p>Everything that is refused is refused with a {@link StatusException}. Trees that are returned
 * are shared: never modify them.
 */
public final class InMemoryCluster implements AutoCloseable {

    // One lock covers the storage, its caches and the set of open watches. Under it, watches are only given signals
    // in the order of history; after it, the thread that made the change tells them. So a change made by a thread has
    // been told to every watch when the call returns, unless another thread is telling that watch just then.

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

    /** An empty cluster that remembers 1,024 changes a resource and sends a bookmark a minute, as servers do. */
    public static InMemoryCluster create(Timekeeper timekeeper) {
        return create(timekeeper, HISTORY_LIMIT, BOOKMARK_PERIOD);
    }

    /**
     * An empty cluster.
     *
     * @param timekeeper gives timestamps and drives bookmarks and timeouts; stays open when the cluster closes
     * @param historyLimit how many changes of each resource a watch can go back; at least 1
     * @param bookmarkPeriod positive
     */
    public static InMemoryCluster create(Timekeeper timekeeper, int historyLimit, Duration bookmarkPeriod) {
        if (historyLimit < 1 || bookmarkPeriod.isZero() || bookmarkPeriod.isNegative()) {
            throw new IllegalArgumentException(
                    "historyLimit " + historyLimit + " and bookmarkPeriod " + bookmarkPeriod + " must be positive");
        }
        InMemoryCluster cluster = new InMemoryCluster(timekeeper, historyLimit, bookmarkPeriod);
        FIRST_NAMESPACES.forEach(cluster::createNamespace);
        return cluster;
    }

    private void createNamespace(String name) {
        write(() -> {
            registry.provideNamespaceLocked(name);
            return null;
        });
    }

    /** What was asked of this cluster so far, whether refused or not. */
    public RequestCounts requests() {
        return counts;
    }

    // Objects of fabric8's model

    /** Stores a new object and returns it as stored. */
    public <T extends HasMetadata> T create(T object) {
        Resource resource = Resource.of(object.getClass());
        ObjectNode body = Json.tree(object);
        return typed(
                object, create(resource, body.path("metadata").path("namespace").asText(), body));
    }

    /** The latest committed state. */
    public <T extends HasMetadata> T get(Class<T> model, String namespace, String name) {
        return Json.model(get(Resource.of(model), ObjectKey.of(namespace, name), ""), model);
    }

    /**
     * Replaces an object, apart from its status, and returns it as stored; conflicts if its
     * resourceVersion is set and old.
     */
    public <T extends HasMetadata> T update(T object) {
        return typed(object, update(Resource.of(object.getClass()), keyOf(object), Part.OBJECT, Json.tree(object)));
    }

    /** Replaces the status, labels and annotations of an object and returns it as stored. */
    public <T extends HasMetadata> T updateStatus(T object) {
        return typed(object, update(Resource.of(object.getClass()), keyOf(object), Part.STATUS, Json.tree(object)));
    }

    /** Deletes the object of that name, as {@code kubectl delete} would: a pod that has a node is only marked. */
    public void delete(HasMetadata object) {
        delete(Resource.of(object.getClass()), keyOf(object), DeleteOptions.DEFAULT);
    }

    /** Deletes the object of that name at once, as {@code kubectl delete --force --grace-period=0} would. */
    public void deleteNow(HasMetadata object) {
        delete(Resource.of(object.getClass()), keyOf(object), DeleteOptions.NOW);
    }

    // JSON trees

    /**
     * Stores a new object.
     *
     * @param namespace empty if {@code body} names it, or for a resource that has none
     * @return the object as stored
     */
    public ObjectNode create(Resource resource, String namespace, ObjectNode body) {
        counts.add(Verb.CREATE, resource);
        ObjectKey key = ObjectNames.forCreate(resource, namespace, body);
        ObjectNode object = WriteRules.created(resource, key, body, timekeeper.wallTime());
        return write(() -> registry.createLocked(resource, key, object));
    }

    /**
     * Reads one object.
     *
     * @param resourceVersion "" for the latest committed state, "0" for what the watch cache has, else for
     *     what it has if that is not older
     */
    public ObjectNode get(Resource resource, ObjectKey key, String resourceVersion) {
        counts.add(Verb.GET, resource);
        synchronized (lock) {
            return registry.getLocked(resource, key, resourceVersion);
        }
    }

    /**
     * Reads what is selected.
     *
     * @param resourceVersion as for {@link #get(Resource, ObjectKey, String)}
     */
    public ObjectList list(Resource resource, Selection selection, String resourceVersion) {
        counts.add(Verb.LIST, resource);
        synchronized (lock) {
            return registry.listLocked(resource, selection, resourceVersion);
        }
    }

    /**
     * Follows what is selected, as the watch cache gets to know it. A version that is no longer remembered is answered
     * as a kube-apiserver does: with an ERROR event of code 410.
     */
    public ClusterWatch watch(Resource resource, Selection selection, WatchOptions options, WatchListener listener) {
        counts.add(Verb.WATCH, resource);
        return watches.open(resource, selection, options, listener);
    }

    /** Replaces one part of an object; changes nothing, not even the version, if it is so already. */
    public ObjectNode update(Resource resource, ObjectKey key, Part part, ObjectNode body) {
        counts.add(Verb.UPDATE, resource);
        ObjectNames.requireMatch(resource, key, body);
        return write(() -> registry.replaceLocked(resource, key, part, body));
    }

    /** Changes one part of an object; changes nothing, not even the version, if it is so already. */
    public ObjectNode patch(Resource resource, ObjectKey key, Part part, PatchBody patch) {
        counts.add(Verb.PATCH, resource);
        return write(() -> registry.patchLocked(resource, key, part, patch));
    }

    /**
     * Deletes an object. A pod that has a node and has not ended is marked with a deletionTimestamp and lives on until
     * it is deleted with a grace period of 0, which is its kubelet's task.
     *
     * @return the last state of the object
     */
    public ObjectNode delete(Resource resource, ObjectKey key, DeleteOptions options) {
        counts.add(Verb.DELETE, resource);
        return write(() -> registry.deleteLocked(resource, key, options));
    }

    // What tests switch

    /**
     * Freezes the watch cache: watches hear nothing, reads of version "0" see the past, until
     * {@link #releaseWatchCache()}.
     */
    public void holdWatchCache() {
        synchronized (lock) {
            storage.hold(true);
        }
    }

    /** Lets the watch cache catch up and follow again. */
    public void releaseWatchCache() {
        write(() -> {
            storage.hold(false);
            return null;
        });
    }

    /**
     * Answers every other read of one object at a version such as "0" as a second API server would whose cache lacks the
     * last change of that object; {@code false} ends this.
     */
    public void alternateWithStalerServer(boolean on) {
        synchronized (lock) {
            storage.alternate(on);
        }
    }

    /** Forgets the history, so that a watch from any version but the newest is answered 410. */
    public void forgetHistory() {
        synchronized (lock) {
            for (Resource resource : Resource.values()) {
                storage.cache(resource).forgetHistory(storage.cachedRevision());
            }
        }
    }

    /** The version of the last committed change. */
    public String resourceVersion() {
        synchronized (lock) {
            return Long.toUnsignedString(storage.revision());
        }
    }

    /** How many watches of the resource are open. */
    public int openWatches(Resource resource) {
        return watches.count(resource);
    }

    /** How many watches are open. */
    public int openWatches() {
        int count = 0;
        for (Resource resource : Resource.values()) {
            count += openWatches(resource);
        }
        return count;
    }

    /** Ends all watches. Later reads and writes are still answered, later watches end at once. Idempotent. */
    @Override
    public void close() {
        watches.close();
    }

    /** The time that timestamps are made of. */
    Instant now() {
        return timekeeper.wallTime();
    }

    private <R extends @Nullable Object> R write(Supplier<R> step) {
        R result;
        ImmutableList<Watcher> telling;
        synchronized (lock) {
            result = step.get();
            telling = storage.feedCaches();
        }
        telling.forEach(Watcher::tell);
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
