package dev.podcache.testing;

import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKind;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.PayloadBudget;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;

/** The Secret and ConfigMap managers of a node agent with strategy WATCH, on a {@link FakeApiServer}. */
public final class WatchedCaches implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final WatchObjectStore.WatchTimes TIMES =
            new WatchObjectStore.WatchTimes(Duration.ofSeconds(1), Duration.ofMinutes(5));

    private final WatchObjectStore<Secret> secretStore;
    private final WatchObjectStore<ConfigMap> configMapStore;
    private final Manager<Secret> secrets;
    private final Manager<ConfigMap> configMaps;

    private WatchedCaches(WatchObjectStore<Secret> secretStore, WatchObjectStore<ConfigMap> configMapStore) {
        this.secretStore = secretStore;
        this.configMapStore = configMapStore;
        this.secrets = Managers.caching(secretStore, PodReferences::secretKeys);
        this.configMaps = Managers.caching(configMapStore, PodReferences::configMapKeys);
    }

    /** Creates managers without pods. */
    public static WatchedCaches of(FakeApiServer server) {
        return new WatchedCaches(store(server, ObjectKind.SECRET), store(server, ObjectKind.CONFIG_MAP));
    }

    /** Returns the manager of Secrets. */
    public Manager<Secret> secrets() {
        return secrets;
    }

    /** Returns the manager of ConfigMaps. */
    public Manager<ConfigMap> configMaps() {
        return configMaps;
    }

    @Override
    public void close() {
        secretStore.close();
        configMapStore.close();
    }

    private static <T extends HasMetadata> WatchObjectStore<T> store(FakeApiServer server, ObjectKind<T> kind) {
        return new WatchObjectStore<>(
                kind,
                key -> server.listerWatcher(kind, key.namespace(), "metadata.name=" + key.name()),
                server.getter(kind),
                new StoreOptions(
                        server.timekeeper(),
                        TIMEOUT,
                        PayloadBudget.unlimited(server.timekeeper()),
                        PodcacheMetrics.NONE),
                TIMES);
    }
}
