package dev.podcache.kubelet.agent;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.ReplicaSet;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import org.junit.jupiter.api.AfterEach;

/** On the embedded API server. */
class RestrictedRolloutTest extends RestrictedRolloutContract {

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
    private final KubernetesClient client = new KubernetesClientBuilder()
            .withConfig(new ConfigBuilder(Config.empty())
                    .withMasterUrl(server.url())
                    .build())
            .build();

    RestrictedRolloutTest() {
        cluster.serve(ObjectKind.of(Deployment.class));
        cluster.serve(ObjectKind.of(ReplicaSet.class));
    }

    @AfterEach
    void closeServer() {
        stopNode();
        client.close();
        server.close();
        timekeeper.close();
    }

    @Override
    protected KubernetesClient admin() {
        return client;
    }

    @Override
    protected KubernetesClient ofNode() {
        return client;
    }

    @Override
    protected String node() {
        return "worker-1";
    }

    @Override
    protected String restricted() {
        return "shop";
    }

    @Override
    protected String privileged() {
        return "tools";
    }
}
