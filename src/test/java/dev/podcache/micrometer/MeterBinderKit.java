package dev.podcache.micrometer;

import com.google.common.io.Closer;
import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.cache.CacheMeterBinder;
import io.micrometer.core.instrument.binder.cache.CacheMeterBinderCompatibilityKit;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/**
 * Micrometer's own test of a binder, by one strategy. To put an object in is to create it at the API server and to
 * register for it.
 */
abstract class MeterBinderKit extends CacheMeterBinderCompatibilityKit<Podcache> {

    private static final String NAMESPACE = "shop";
    private static final Referrer OWNER = PodKey.of(NAMESPACE, "owner", "uid-owner");

    private final ChangeDetectionStrategy strategy;
    private final Closer closer = Closer.create();
    private final InMemoryCluster cluster;
    private final Fabric8ApiServer api;
    private final Set<ObjectRef> registered = new HashSet<>();

    MeterBinderKit(ChangeDetectionStrategy strategy) {
        this.strategy = strategy;
        Timekeeper timekeeper = Timekeeper.system();
        closer.register(timekeeper::close);
        cluster = InMemoryCluster.create(timekeeper);
        closer.register(cluster::close);
        EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
        closer.register(server::close);
        Config config =
                new ConfigBuilder(Config.empty()).withMasterUrl(server.url()).build();
        KubernetesClient client =
                closer.register(new KubernetesClientBuilder().withConfig(config).build());
        api = Fabric8ApiServer.of(client);
        closer.register(api::close);
    }

    @AfterEach
    void close() throws IOException {
        // the kit lets go of the cache in one of its tests: nothing else may keep it
        if (cache != null) {
            cache.close();
        }
        closer.close();
    }

    @Override
    public Podcache createCache() {
        return Podcache.builder(api).strategy(strategy).recordStats().build();
    }

    @Override
    public CacheMeterBinder<Podcache> binder() {
        return new PodcacheMeterBinder(cache, "mycache", Tags.empty());
    }

    @Override
    public void put(String key, String value) {
        cluster.create(Secrets.of(NAMESPACE, key, value));
        registered.add(ObjectRef.of(ObjectKind.SECRET, NAMESPACE, key));
        cache.register(OWNER, registered);
        if (strategy == ChangeDetectionStrategy.WATCH) {
            Patience.await()
                    .until(() -> cache.secrets().peek(NAMESPACE, key).isPresent()
                            && cache.secrets().state(NAMESPACE, key).age() != null);
        } else {
            String unused = get(key);
        }
    }

    @Override
    public @Nullable String get(String key) {
        try {
            return Secrets.value(cache.secrets().getObject(NAMESPACE, key));
        } catch (ObjectUnavailableException e) {
            return null;
        }
    }
}
