package dev.podcache.cli.demo;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.demo.DemoScript.Act;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.Faults;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.kubelet.agent.KubeletConfiguration;
import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.server.NodeView;
import dev.podcache.manager.ChangeDetectionStrategy;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The node agent whose page the demo serves: of the node that the strategies observe, with an API server of its own, so
 * that its requests are not counted with theirs. Used by one thread.
 */
final class DemoAgent implements AutoCloseable {

    private final EmbeddedApiServer server;
    private final KubernetesClient client;
    private final Fabric8ApiServer apiServer;
    private final NodeAgent agent;
    private Faults.@Nullable Switched failure;

    /** Creates an agent that does not work until started. */
    DemoAgent(DemoCluster cluster, ChangeDetectionStrategy strategy, Duration sync) {
        this.server = EmbeddedApiServer.start(cluster.cluster());
        this.client = DemoCluster.client(server.url());
        this.apiServer = Fabric8ApiServer.of(client);
        this.agent = NodeAgent.builder(apiServer)
                .node(DemoCluster.NODE)
                .configuration(KubeletConfiguration.DEFAULT.withoutEndpoint())
                .strategy(strategy)
                .syncFrequency(sync)
                .build();
    }

    void start() {
        agent.start();
    }

    NodeView view() {
        return agent.view();
    }

    /** Lets the agent's API server fail and recover with the others. */
    void play(Act act) {
        if (act == Act.FAILURE) {
            failure = server.faults().refuse(RequestPattern.any());
            server.faults().resetWatches(RequestPattern.any());
        } else if (act == Act.RECOVERY && failure != null) {
            failure.close();
        }
    }

    @Override
    public void close() {
        agent.close();
        apiServer.close();
        client.close();
        server.close();
    }
}
