package dev.podcache;

import com.google.common.io.Closer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.CacheStats;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Caches exactly the Secrets and ConfigMaps that registered pods refer to, for as long as they refer to them.
 * Thread-safe. Other owners, such as an operator's custom resource, {@link #register} for objects of any kind.
 *
 * <pre>{@code
 * try (Podcache cache = Podcache.builder(client).node("worker-1").strategy(ChangeDetectionStrategy.WATCH).build()) {
 *   cache.registerPod(pod);
 *   Secret secret = cache.secrets().getObject("shop", "db-password");
 *   ConfigMap config = cache.configMaps().getObject("shop", "settings");
 * }
 * }</pre>
 *
 * <p>Register a pod before its objects are needed, and again at each sync; unregister it when it is gone. Neither call
 * blocks, and registering an unchanged pod costs next to nothing. Only objects that registered pods refer to can be
 * read, except under {@link ChangeDetectionStrategy#GET}, which keeps no references.
 *
 * <p>Must be {@linkplain #close() closed}.
 */
public final class Podcache implements AutoCloseable {

    private final Managers managers;
    private final Manager<Secret> secrets;
    private final Manager<ConfigMap> configMaps;
    private final Timekeeper timekeeper;
    private final Closer parts;

    /**
     * Makes a cache from its parts.
     *
     * @param parts closed with the cache, the last registered part first
     */
    Podcache(Managers managers, Timekeeper timekeeper, Closer parts) {
        this.managers = managers;
        this.timekeeper = timekeeper;
        this.secrets = managers.of(ObjectKind.SECRET);
        this.configMaps = managers.of(ObjectKind.CONFIG_MAP);
        this.parts = parts;
    }

    /**
     * Returns a builder of a cache that uses the configuration of {@code client} and opens its own connections.
     *
     * @param client must stay open until the cache is closed; the cache never closes it
     */
    public static PodcacheBuilder builder(KubernetesClient client) {
        Objects.requireNonNull(client, "client");
        return new PodcacheBuilder(() -> Fabric8ApiServer.of(client), true);
    }

    /**
     * Returns a builder of a cache that shares an API server with other parts of the process.
     *
     * @param server must stay open until the cache is closed; the cache never closes it
     */
    public static PodcacheBuilder builder(Fabric8ApiServer server) {
        Objects.requireNonNull(server, "server");
        return new PodcacheBuilder(() -> server, false);
    }

    /**
     * Registers {@code pod} with both managers in one step; see {@link Manager#registerPod}. If one of them fails,
     * neither has changed.
     *
     * @throws IllegalArgumentException if namespace, name, UID or spec is missing; nothing has changed then
     * @throws IllegalStateException if the cache is closed and the pod refers to a new object; never under GET
     */
    public void registerPod(Pod pod) {
        managers.registerPod(pod);
    }

    /**
     * Unregisters {@code pod} from both managers in one step; see {@link Manager#unregisterPod}.
     *
     * @throws IllegalArgumentException if namespace, name or UID is missing
     */
    public void unregisterPod(Pod pod) {
        managers.unregisterPod(pod);
    }

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
    public void register(Referrer referrer, Set<ObjectRef> objects) {
        managers.register(referrer, objects);
    }

    /** Releases everything that {@code referrer} holds. One that is not registered is ignored. Returns at once. */
    public void unregister(Referrer referrer) {
        managers.unregister(referrer);
    }

    /** Returns the manager of the Secrets that registered pods and other owners refer to. */
    public Manager<Secret> secrets() {
        return secrets;
    }

    /** Returns the manager of the ConfigMaps that registered pods and other owners refer to. */
    public Manager<ConfigMap> configMaps() {
        return configMaps;
    }

    /**
     * Returns the manager of the objects of one kind that registered owners refer to: always the same. Made at the
     * first call, without a request.
     *
     * @throws IllegalArgumentException if the kind is used with another model class already
     * @throws IllegalStateException if the cache is closed and the kind is new
     */
    public <T extends HasMetadata> Manager<T> objects(ObjectKind<T> kind) {
        return managers.of(kind);
    }

    /**
     * Returns every referenced object with its state, its size and its owners, never its content; a snapshot. Makes no
     * request. An owner that vanished without {@link #unregister} shows here.
     */
    public List<ObjectEntry> entries() {
        return managers.entries();
    }

    /**
     * Waits until every object that is registered now was read at least once, at most for {@code timeout}. Reads the
     * objects that were not. An object that does not exist counts as read; one whose name is not legal never does.
     * Under GET, it returns at once. An interrupt ends the wait; the interrupt status is then set.
     *
     * @return the objects that were not read, with their last failure; empty if all were read
     * @throws IllegalArgumentException if {@code timeout} is negative
     */
    public List<ObjectEntry> awaitSynced(Duration timeout) {
        return managers.awaitSynced(Durations.atLeast(Duration.ZERO, "timeout", timeout), timekeeper);
    }

    /**
     * Returns the counts of the cache, of all kinds: what it holds, and what has happened. Makes no request. Takes
     * about as long as {@link #entries}, a microsecond for each object. After {@link #close} nothing is held, and the
     * other counts stay as they are.
     */
    public CacheStats stats() {
        return managers.stats();
    }

    /**
     * Closes the cache. Waiting gets end with {@code Closed}, and no thread, timer, watch or connection of the cache
     * remains. Waits at most some seconds for threads to end. Idempotent.
     */
    @Override
    public void close() {
        // Closer is not thread-safe, and no caller may return before everything is closed
        synchronized (parts) {
            try {
                parts.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
