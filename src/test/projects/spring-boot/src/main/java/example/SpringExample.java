package example;

import dev.podcache.Podcache;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Reads a Secret of an API server in memory, and ends. */
@SpringBootApplication
public class SpringExample {

    public static void main(String[] args) {
        SpringApplication.run(SpringExample.class, args).close();
    }

    @Bean
    CommandLineRunner read(Podcache podcache) {
        return args -> {
            Referrer owner = () -> "this-application";
            podcache.register(owner, Set.of(ObjectRef.of(ObjectKind.SECRET, "shop", "db")));
            // a get alone waits for the cache's timeout, which a JVM that has just started may need on a busy machine
            podcache.awaitSynced(Duration.ofSeconds(60));
            System.out.println("read " + podcache.secrets().getObject("shop", "db").getData().keySet());
        };
    }

    @Bean
    Timekeeper timekeeper() {
        return Timekeeper.system();
    }

    @Bean
    InMemoryCluster cluster(Timekeeper time) {
        InMemoryCluster cluster = InMemoryCluster.create(time);
        cluster.create(new NamespaceBuilder().withNewMetadata().withName("shop").endMetadata().build());
        cluster.create(new SecretBuilder()
                .withNewMetadata().withNamespace("shop").withName("db").endMetadata()
                .withData(Map.of("user", "cm9vdA=="))
                .build());
        return cluster;
    }

    @Bean
    EmbeddedApiServer server(InMemoryCluster cluster) {
        return EmbeddedApiServer.start(cluster);
    }

    @Bean
    KubernetesClient client(EmbeddedApiServer server) {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.empty()).withMasterUrl(server.url()).build())
                .build();
    }
}
