package dev.podcache.testing;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;

/** An empty cluster in memory in real time, its API server, and a client of it, which are closed together. */
public final class ServedCluster implements AutoCloseable {

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder(Config.empty())
                    .withMasterUrl(server.url())
                    .build())
            .build();

    public InMemoryCluster cluster() {
        return cluster;
    }

    public EmbeddedApiServer server() {
        return server;
    }

    public KubernetesClient client() {
        return client;
    }

    @Override
    public void close() {
        client.close();
        server.close();
        cluster.close();
        timekeeper.close();
    }
}
