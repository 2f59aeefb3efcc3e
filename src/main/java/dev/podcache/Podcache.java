package dev.podcache;

import com.google.common.io.Closer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.CacheStats;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.manager.ObjectCache;
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
public final class Podcache implements ObjectCache {

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

    @Override
    public void registerPod(Pod pod) {
        managers.registerPod(pod);
    }

    @Override
    public void unregisterPod(Pod pod) {
        managers.unregisterPod(pod);
    }

    @Override
    public void register(Referrer referrer, Set<ObjectRef> objects) {
        managers.register(referrer, objects);
    }

    @Override
    public void unregister(Referrer referrer) {
        managers.unregister(referrer);
    }

    @Override
    public Manager<Secret> secrets() {
        return secrets;
    }

    @Override
    public Manager<ConfigMap> configMaps() {
        return configMaps;
    }

    @Override
    public <T extends HasMetadata> Manager<T> objects(ObjectKind<T> kind) {
        return managers.of(kind);
    }

    @Override
    public List<ObjectEntry> entries() {
        return managers.entries();
    }

    @Override
    public List<ObjectEntry> awaitSynced(Duration timeout) {
        return managers.awaitSynced(Durations.atLeast(Duration.ZERO, "timeout", timeout), timekeeper);
    }

    @Override
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
