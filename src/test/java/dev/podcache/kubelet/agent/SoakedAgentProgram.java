package dev.podcache.kubelet.agent;

import dev.podcache.testing.FixedHost;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;

/**
 * An agent of node {@code worker-1} in a JVM of its own, which ends with its standard input. Prints the ports of its HTTPS
 * endpoint and its health port. Arguments: the URL of the API server, and the health port.
 */
final class SoakedAgentProgram {

    static final String NODE = "worker-1";

    private SoakedAgentProgram() {}

    public static void main(String[] arguments) throws IOException {
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl(arguments[0])
                .withOauthToken("soak")
                .build();
        try (KubernetesClient client =
                        new KubernetesClientBuilder().withConfig(config).build();
                NodeAgent agent = NodeAgent.builder(client)
                        .node(NODE)
                        .facts(new FixedHost())
                        .healthPort("127.0.0.1", Integer.parseInt(arguments[1]))
                        .server(options -> options.address("127.0.0.1")
                                .port(0)
                                .reviews(new ServedAgent.OneToken(ServedAgent.TOKEN)))
                        .build()) {
            agent.start();
            Patience.await()
                    .until(() ->
                            agent.httpsPort().isPresent() && agent.healthPort().isPresent());
            System.out.println(
                    agent.httpsPort().getAsInt() + " " + agent.healthPort().getAsInt());
            while (System.in.read() >= 0) {
                // until the test closes it
            }
        }
    }
}
