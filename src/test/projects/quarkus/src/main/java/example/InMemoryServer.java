package example;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.Map;

/** An API server in memory, and a client of it in place of the one of the extension. */
@Singleton
class InMemoryServer {

    private final Timekeeper time = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(time);
    private final EmbeddedApiServer server = EmbeddedApiServer.start(cluster);

    @PostConstruct
    void fill() {
        cluster.create(new NamespaceBuilder().withNewMetadata().withName("shop").endMetadata().build());
        cluster.create(new SecretBuilder()
                .withNewMetadata().withNamespace("shop").withName("db").endMetadata()
                .withData(Map.of("user", "cm9vdA=="))
                .build());
    }

    @Produces
    @Singleton
    KubernetesClient client() {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.empty()).withMasterUrl(server.url()).build())
                .build();
    }

    @PreDestroy
    void close() {
        server.close();
        time.close();
    }
}
