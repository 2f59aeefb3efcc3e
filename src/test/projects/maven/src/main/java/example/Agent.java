package example;

import dev.podcache.kubelet.agent.NodeAgent;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;

/** A node agent that registers a Node at the API server that the first argument names, and ends. */
final class Agent {

    private Agent() {}

    public static void main(String[] arguments) throws InterruptedException {
        Config config = new ConfigBuilder(Config.empty()).withMasterUrl(arguments[0]).build();
        try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build();
                NodeAgent agent = NodeAgent.builder(client).node("edge-1").build()) {
            agent.start();
            while (agent.node().isEmpty()) {
                // nothing tells when the server has answered
                Thread.sleep(100);
            }
            System.out.println("registered " + agent.node().orElseThrow().getMetadata().getName());
        }
    }
}
