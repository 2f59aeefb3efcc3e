package dev.podcache;

import com.google.common.io.Closer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Registrations;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

/**
 * Caches exactly the Secrets and ConfigMaps that registered pods refer to, for as long as they refer to them.
 * Thread-safe. Other owners, such as an operator's custom resource, register through {@link #secrets()} and {@link
 * #configMaps()}; see {@link Manager#register}.
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

    private final Manager<Secret> secrets;
    private final Manager<ConfigMap> configMaps;
    private final Registrations registrations;
    private final Closer parts;

    /**
     * Makes a cache from its parts.
     *
     * @param registrations the registrations of both managers; empty under strategy GET
     * @param parts closed with the cache, the last registered part first
     */
    Podcache(Manager<Secret> secrets, Manager<ConfigMap> configMaps, Registrations registrations, Closer parts) {
        this.secrets = secrets;
        this.configMaps = configMaps;
        this.registrations = registrations;
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
        registrations.registerPod(pod);
    }

    /**
     * Unregisters {@code pod} from both managers in one step; see {@link Manager#unregisterPod}.
     *
     * @throws IllegalArgumentException if namespace, name or UID is missing
     */
    public void unregisterPod(Pod pod) {
        registrations.unregisterPod(pod);
    }

    /** Returns the manager of the Secrets. */
    public Manager<Secret> secrets() {
        return secrets;
    }

    /** Returns the manager of the ConfigMaps. */
    public Manager<ConfigMap> configMaps() {
        return configMaps;
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
