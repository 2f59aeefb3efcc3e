package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of a small Kubernetes cluster, with the semantics of its API server but without HTTP: nodes, namespaces,
 * pods, secrets, config maps, services, events, service accounts, leases, Roles, ClusterRoles and their bindings, and every
 * other kind that {@link #serve} adds. Thread-safe. Methods block only for short critical sections.
 *
 * <p>Implements what clients rely on: one increasing resourceVersion, optimistic locking, the status subresource,
 * graceful deletion of pods, finalizers, pages of lists, immutable Secrets and ConfigMaps, and reads and watches from a
 * watch cache with a bounded history that {@linkplain #holdWatchCache() can lag}. Differences from a kube-apiserver: creating an object creates
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
    private final List<Consumer<ClusterChange>> accessFollowers = new ArrayList<>(); // guarded by lock
    private final Watches watches;
    private volatile ImmutableList<Resource> served = Resource.BUILT_IN; // written under lock
    private final RequestCounts counts = new RequestCounts();
    private final Runnable afterClose;

    private InMemoryCluster(Timekeeper timekeeper, int historyLimit, Duration bookmarkPeriod, Runnable afterClose) {
        this.timekeeper = Objects.requireNonNull(timekeeper, "timekeeper");
        this.afterClose = afterClose;
        this.storage = new Storage(historyLimit, this::tellFollowersLocked);
        Resource.BUILT_IN.stream().filter(resource -> !resource.isReview()).forEach(storage::add);
        this.registry = new Registry(storage, timekeeper);
        this.watches = new Watches(lock, storage, timekeeper, bookmarkPeriod);
    }

    /**
     * Creates an empty cluster that goes by the clock of this machine, with the defaults of a kube-apiserver: a history of
     * 1,024 changes per resource and a bookmark per minute. Close the cluster after its servers.
     */
    public static InMemoryCluster create() {
        Timekeeper own = Timekeeper.system();
        return create(own, HISTORY_LIMIT, BOOKMARK_PERIOD, own::close);
    }

    /** Creates an empty cluster with the same defaults. Closing the cluster does not close {@code timekeeper}. */
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
        return create(timekeeper, historyLimit, bookmarkPeriod, () -> {});
    }

    private static InMemoryCluster create(
            Timekeeper timekeeper, int historyLimit, Duration bookmarkPeriod, Runnable afterClose) {
        if (historyLimit < 1 || bookmarkPeriod.isZero() || bookmarkPeriod.isNegative()) {
            throw new IllegalArgumentException("historyLimit " + historyLimit + " and bookmarkPeriod "
                    + Durations.text(bookmarkPeriod) + " must be positive");
        }
        InMemoryCluster cluster = new InMemoryCluster(timekeeper, historyLimit, bookmarkPeriod, afterClose);
        FIRST_NAMESPACES.forEach(cluster::createNamespace);
        return cluster;
    }

    private void createNamespace(String name) {
        write(() -> {
            registry.ensureNamespaceLocked(name);
            return null;
        });
    }

    /**
     * Serves a kind from now on, as a CustomResourceDefinition makes an API server do. Objects of any form are stored: there
     * is no schema. A kind with a status has a status subresource, and a custom resource always has one: a write of the
     * object leaves the status, a write of the status changes nothing else, and {@code metadata.generation} counts the
     * changes of the spec. Each version of a kind has its own objects. Idempotent.
     *
     * @return the resource, for {@link RequestPattern}, {@link RequestCounts} and the methods that take JSON
     */
    public Resource serve(ObjectKind<?> kind) {
        Resource resource = Resource.of(kind);
        synchronized (lock) {
            if (!resource.isReview() && storage.add(resource) && !served.contains(resource)) {
                served = ImmutableList.<Resource>builder()
                        .addAll(served)
                        .add(resource)
                        .build();
            }
        }
        return resource;
    }

    /**
     * Deletes all objects of a kind that {@link #serve} added, with their events, ends its watches, and answers 404 from
     * now on, as when a CustomResourceDefinition is deleted. Finalizers are not waited for. Idempotent.
     *
     * @throws IllegalArgumentException if every cluster serves the kind
     */
    public void stopServing(ObjectKind<?> kind) {
        Resource resource = Resource.of(kind);
        if (Resource.BUILT_IN.contains(resource)) {
            throw new IllegalArgumentException("every in-memory cluster serves " + resource
                    + ": only a kind that serve(ObjectKind) added can be taken away");
        }
        ImmutableList<Watcher> pending;
        ImmutableList<Watcher> ended;
        synchronized (lock) {
            if (!storage.has(resource)) {
                return;
            }
            registry.removeAllLocked(resource);
            pending = storage.updateCaches();
            ended = watches.closeAllLocked(resource);
            storage.drop(resource);
            served = served.stream().filter(other -> !other.equals(resource)).collect(ImmutableList.toImmutableList());
        }
        pending.forEach(Watcher::deliver);
        Watches.tellEnded(ended);
    }

    /** Returns the resources that are served at the moment. */
    ImmutableList<Resource> served() {
        return served;
    }

    /**
     * Reports the Roles, ClusterRoles and bindings, and then each change of them, until the returned Runnable is run.
     * The follower is called under the lock: it must not call the cluster.
     */
    Runnable followAccess(Consumer<ClusterChange> follower) {
        synchronized (lock) {
            for (Resource resource : storage.resources()) {
                if (resource.isAccess()) {
                    storage.objects(resource)
                            .forEach((key, object) ->
                                    follower.accept(new ClusterChange(resource, key, object.revision(), null, object)));
                }
            }
            accessFollowers.add(follower);
        }
        return () -> {
            synchronized (lock) {
                accessFollowers.remove(follower);
            }
        };
    }

    private void tellFollowersLocked(ClusterChange change) {
        if (change.resource().isAccess()) {
            accessFollowers.forEach(follower -> follower.accept(change));
        }
    }

    /** Returns the clock and timers of this cluster. */
    Timekeeper timekeeper() {
        return timekeeper;
    }

    /**
     * Returns the resource of an object.
     *
     * @throws IllegalArgumentException if it is not served
     */
    private Resource resourceOf(HasMetadata object) {
        if (object instanceof GenericKubernetesResource generic) {
            for (Resource resource : served) {
                if (resource.apiVersion().equals(generic.getApiVersion())
                        && resource.kind().equals(generic.getKind())) {
                    return resource;
                }
            }
            throw new IllegalArgumentException("the in-memory cluster does not serve " + generic.getApiVersion() + " "
                    + generic.getKind() + ": add it with serve(ObjectKind)");
        }
        return resourceOf(object.getClass());
    }

    private Resource resourceOf(Class<? extends HasMetadata> model) {
        Resource resource = Resource.of(ObjectKind.of(model));
        return served.contains(resource) ? resource : Resource.of(model);
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
        Resource resource = resourceOf(object);
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
        return Json.model(get(resourceOf(model), ObjectKey.of(namespace, name), ""), model);
    }

    /**
     * Replaces an object, except for its status, and returns it as stored.
     *
     * @throws StatusException 404 if the object does not exist, 409 if its resourceVersion is set and not the latest,
     *     400 or 422 if it is invalid
     */
    public <T extends HasMetadata> T update(T object) {
        return typed(object, update(resourceOf(object), keyOf(object), ObjectPart.OBJECT, Json.tree(object)));
    }

    /**
     * Replaces the status, labels and annotations of an object and returns it as stored.
     *
     * @throws StatusException as for {@link #update(HasMetadata)}
     */
    public <T extends HasMetadata> T updateStatus(T object) {
        return typed(object, update(resourceOf(object), keyOf(object), ObjectPart.STATUS, Json.tree(object)));
    }

    /**
     * Deletes the object with this name, as {@code kubectl delete} does. An unfinished pod that has a node is only
     * marked for deletion.
     *
     * @throws StatusException 404 if the object does not exist
     */
    public void delete(HasMetadata object) {
        delete(resourceOf(object), keyOf(object), DeleteOptions.DEFAULT);
    }

    /**
     * Deletes the object with this name at once, as {@code kubectl delete --force --grace-period=0} does.
     *
     * @throws StatusException 404 if the object does not exist
     */
    public void deleteNow(HasMetadata object) {
        delete(resourceOf(object), keyOf(object), DeleteOptions.NOW);
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
        return create(resource, namespace, body, WriteCheck.NONE);
    }

    /** Creates an object if {@code check} allows it. */
    ObjectNode create(Resource resource, String namespace, ObjectNode body, WriteCheck check) {
        counts.add(Verb.CREATE, resource);
        ObjectKey key = ObjectNames.forCreate(resource, namespace, body);
        ObjectNode object = WriteRules.created(resource, key, body, timekeeper.wallTime());
        return write(() -> registry.createLocked(resource, key, object, check));
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
        return list(resource, selection, ListPage.first(resourceVersion, 0));
    }

    /**
     * Returns one page of the selected objects. Later pages have the state at the time of the first one.
     *
     * @throws StatusException 504 if the watch cache is older than the requested version, 410 if the history no longer
     *     reaches back to the first page
     */
    ObjectList list(Resource resource, Selection selection, ListPage page) {
        counts.add(Verb.LIST, resource);
        synchronized (lock) {
            return registry.listLocked(resource, selection, page);
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
     * Replaces one part of an object. An update that changes nothing keeps the resourceVersion. An update of a Role,
     * ClusterRole or binding that does not exist creates it.
     *
     * @return the object as stored
     * @throws StatusException 404 if the object does not exist, 409 on a conflict, 400 or 422 if {@code body} is
     *     invalid
     */
    public ObjectNode update(Resource resource, ObjectKey key, ObjectPart part, ObjectNode body) {
        return update(resource, key, part, body, WriteCheck.NONE);
    }

    /** Replaces one part of an object if {@code check} allows it. */
    ObjectNode update(Resource resource, ObjectKey key, ObjectPart part, ObjectNode body, WriteCheck check) {
        counts.add(Verb.UPDATE, resource);
        ObjectNames.requireMatch(resource, key, body);
        return write(() -> registry.replaceLocked(resource, key, part, body, check));
    }

    /**
     * Patches one part of an object. A patch that changes nothing keeps the resourceVersion.
     *
     * @return the object as stored
     * @throws StatusException 404 if the object does not exist, 409 on a conflict, 400 or 422 if {@code patch} is
     *     invalid or does not apply
     */
    public ObjectNode patch(Resource resource, ObjectKey key, ObjectPart part, PatchBody patch) {
        return patch(resource, key, part, patch, WriteCheck.NONE);
    }

    /** Patches one part of an object if {@code check} allows it. */
    ObjectNode patch(Resource resource, ObjectKey key, ObjectPart part, PatchBody patch, WriteCheck check) {
        counts.add(Verb.PATCH, resource);
        return write(() -> registry.patchLocked(resource, key, part, patch, check));
    }

    /**
     * Deletes an object. An unfinished pod that has a node is only marked with a deletionTimestamp. Its kubelet removes
     * it later by a deletion with a grace period of 0. An object with finalizers is marked, too, and goes with the last of
     * them. A namespace is emptied, and goes once it is empty and has no finalizer.
     *
     * @return the last state of the object
     * @throws StatusException 404 if the object does not exist, 409 if a precondition fails
     */
    public ObjectNode delete(Resource resource, ObjectKey key, DeleteOptions options) {
        counts.add(Verb.DELETE, resource);
        return write(() -> registry.deleteLocked(resource, key, options));
    }

    /**
     * Deletes the selected objects, each as {@link #delete} does.
     *
     * @return the objects as they were before
     */
    ObjectList deleteCollection(Resource resource, Selection selection, DeleteOptions options) {
        counts.add(Verb.DELETECOLLECTION, resource);
        return write(() -> {
            ObjectList found = registry.listLocked(resource, selection, ListPage.first("", 0));
            found.items().forEach(object -> registry.deleteLocked(resource, ObjectNames.keyOf(object), options));
            return found;
        });
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
            for (Resource resource : storage.resources()) {
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
        for (Resource resource : served) {
            count += openWatches(resource);
        }
        return count;
    }

    /** Ends all watches, and later watches as soon as they are opened. Reads and writes still work. Idempotent. */
    @Override
    public void close() {
        watches.close();
        afterClose.run();
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
