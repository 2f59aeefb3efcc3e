package dev.podcache.example;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Verb;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NewThread;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The example on the embedded API server with Roles. */
class WebsiteOperatorTest extends WebsiteOperatorContract {

    private static final String ADMINISTRATORS = "system:masters";
    private static final ObjectKind<GenericKubernetesResource> WEBSITE =
            ObjectKind.of("example.dev/v1", "Website", "websites", true);

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
        cluster.serve(WEBSITE);
        cluster.create(new NamespaceBuilder()
                .withNewMetadata()
                .withName("shop")
                .endMetadata()
                .build());
        return "shop";
    }

    @Test
    void secretThatChanges_whileTheOperatorStarts_isSeen() throws Exception {
        String first = uses(put("tls", "v1"));
        try (KubernetesClient reader = client("reader", ADMINISTRATORS)) {
            reader.resource(website("one", "tls")).create();
            HeldRequests watches =
                    server.faults().hold(RequestPattern.any().verb(Verb.WATCH).resource(Resource.of(WEBSITE)));
            // the constructor returns when its watch is established
            CompletableFuture<WebsiteOperator> starting =
                    CompletableFuture.supplyAsync(() -> new WebsiteOperator(reader, "shop"), NewThread.EACH);
            watches.awaitArrived();
            awaitState("one", first);

            awaitState("one", uses(put("tls", "v2")));

            assertThat(starting).isNotDone();
            watches.release();
            starting.get().close();
        }
    }
}
