package dev.podcache.example;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The runtime of the example in a node agent, as {@code docs/node-agents.md} shows it. */
@ExtendWith(NoLeaks.class)
class SmallRuntimeAgentTest {

    @Test
    void pod_runsAndEnds() {
        try (InMemoryCluster cluster = InMemoryCluster.create();
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
                KubernetesClient client = new KubernetesClientBuilder()
                        .withConfig(new ConfigBuilder(Config.empty())
                                .withMasterUrl(server.url())
                                .build())
                        .build();
                NodeAgent agent = NodeAgent.builder(client)
                        .node("edge-1")
                        .runtime(new SmallRuntime())
                        .build()) {
            agent.start();
            cluster.create(pod("web", "300"));
            Pod running = client.pods().inNamespace("shop").withName("web").waitUntilReady(30, TimeUnit.SECONDS);
            assertThat(running.getStatus().getPhase()).isEqualTo("Running");

            cluster.create(pod("job", "0.1"));
            client.pods()
                    .inNamespace("shop")
                    .withName("job")
                    .waitUntilCondition(
                            pod -> pod != null
                                    && "Succeeded".equals(pod.getStatus().getPhase()),
                            30,
                            TimeUnit.SECONDS);
            client.pods().inNamespace("shop").withName("web").withGracePeriod(1).delete();
            client.pods()
                    .inNamespace("shop")
                    .withName("web")
                    .waitUntilCondition(pod -> pod == null, 30, TimeUnit.SECONDS);
        }
    }

    private static Pod pod(String name, String seconds) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .endMetadata()
                .withNewSpec()
                .withNodeName("edge-1")
                .withRestartPolicy("Never")
                .withEnableServiceLinks(false)
                .withAutomountServiceAccountToken(false)
                .addNewContainer()
                .withName("main")
                .withImage("any")
                .withCommand("sleep", seconds)
                .endContainer()
                .endSpec()
                .build();
    }
}
