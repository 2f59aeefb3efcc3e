package dev.podcache.manager;

import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * A cache of the objects that registered owners refer to: what {@code Podcache} and {@code FakePodcache}, its replacement
 * in unit tests, have in common. Code that takes this type runs with both. Podcache implements it; it may get more
 * methods. Thread-safe.
 */
public interface ObjectCache extends AutoCloseable {

    /** Returns the manager of the Secrets that registered pods and other owners refer to. */
    Manager<Secret> secrets();

    /** Returns the manager of the ConfigMaps that registered pods and other owners refer to. */
    Manager<ConfigMap> configMaps();

    /**
     * Returns the manager of the objects of one kind that registered owners refer to: always the same. Made at the
     * first call, without a request.
     *
     * @throws IllegalArgumentException if the kind is used with another model class already
     * @throws IllegalStateException if the cache is closed and the kind is new
     */
    <T extends HasMetadata> Manager<T> objects(ObjectKind<T> kind);

    /**
     * Registers {@code pod} with the managers of Secrets and ConfigMaps in one step; see {@link Manager#registerPod}. If
     * it fails, neither has changed.
     *
     * @throws IllegalArgumentException if namespace, name, UID or spec is missing; nothing has changed then
     * @throws IllegalStateException if the cache is closed and the pod refers to a new object; never under GET
     */
    void registerPod(Pod pod);

    /**
     * Unregisters {@code pod} from both managers in one step; see {@link Manager#unregisterPod}.
     *
     * @throws IllegalArgumentException if namespace, name or UID is missing
     */
    void unregisterPod(Pod pod);

    /**
     * Registers an owner other than a pod, such as an operator's custom resource, with the managers of all kinds in one
     * step: from now on it holds {@code objects} and nothing that it held before. If it fails, nothing has changed. A
     * strategy GET keeps no references. Returns at once.
     *
     * @param objects of any kinds and namespaces; copied
     * @throws IllegalArgumentException if a name is not a legal Kubernetes name, a namespace is missing or given to a
     *     kind without namespaces, the referrer has no UID, or a kind is used with another model class already
     * @throws IllegalStateException if the cache is closed and an object is new
     */
    void register(Referrer referrer, Set<ObjectRef> objects);

    /** Releases everything that {@code referrer} holds. One that is not registered is ignored. Returns at once. */
    void unregister(Referrer referrer);

    /**
     * Returns every referenced object with its state, its size and its owners, never its content; a snapshot. Makes no
     * request. An owner that vanished without {@link #unregister} shows here.
     */
    List<ObjectEntry> entries();

    /**
     * Waits until every object that is registered now was read at least once, at most for {@code timeout}. Reads the
     * objects that were not. An object that does not exist counts as read; one whose name is not legal never does.
     * Under GET, it returns at once. An interrupt ends the wait; the interrupt status is then set.
     *
     * @return the objects that were not read, with their last failure; empty if all were read
     * @throws IllegalArgumentException if {@code timeout} is negative
     */
    List<ObjectEntry> awaitSynced(Duration timeout);

    /**
     * Returns the counts of the cache, of all kinds: what it holds, and what has happened. Makes no request. Takes
     * about as long as {@link #entries}, a microsecond for each object. After {@link #close} nothing is held, and the
     * other counts stay as they are.
     */
    CacheStats stats();

    /** Closes the cache. Idempotent. */
    @Override
    void close();
}
