package dev.podcache.example;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import org.junit.jupiter.api.AfterEach;

/** The example on the embedded API server with Roles. */
class WebsiteOperatorTest extends WebsiteOperatorContract {

    private static final String ADMINISTRATORS = "system:masters";

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder(cluster).rbac().start();

    @AfterEach
    void stop() {
        server.close();
        cluster.close();
        timekeeper.close();
    }

    private KubernetesClient client(String user, String... groups) {
        return new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(server.kubeconfigFor(user, groups)))
                .build();
    }

    @Override
    KubernetesClient newAdmin() {
        return client("admin", ADMINISTRATORS);
    }

    @Override
    KubernetesClient newClient(String user) {
        return client(user);
    }

    @Override
    String prepare(KubernetesClient by) {
        cluster.serve(ObjectKind.of("example.dev/v1", "Website", "websites", true));
        cluster.create(new NamespaceBuilder()
                .withNewMetadata()
                .withName("shop")
                .endMetadata()
                .build());
        return "shop";
    }
}
