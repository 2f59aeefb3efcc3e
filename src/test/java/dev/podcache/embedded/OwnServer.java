package dev.podcache.embedded;

import dev.podcache.testing.HttpStoreContract;
import dev.podcache.testing.RawApi;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;

/** An embedded server with an empty cluster, for one test. */
final class OwnServer implements HttpStoreContract.StoreServer {

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer server = EmbeddedApiServer.start(cluster);

    @Override
    public KubernetesClient client() {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.empty())
                        .withMasterUrl(server.url())
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
    }

    InMemoryCluster cluster() {
        return cluster;
    }

    /** For requests as no client library makes them. */
    RawApi api() {
        return RawApi.of(server.url());
    }

    @Override
    public void close() {
        server.close();
        cluster.close();
        timekeeper.close();
    }
}
