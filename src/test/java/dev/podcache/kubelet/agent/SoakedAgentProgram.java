package dev.podcache.kubelet.agent;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.testing.FixedHost;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * An agent of node {@code worker-1} in a JVM of its own, which ends with its standard input. Prints the ports of its HTTPS
 * endpoint and its health port. Arguments: the URL of the API server, and the health port.
 */
final class SoakedAgentProgram {

    static final String NODE = "worker-1";
    static final String TOKEN = "good";

    private SoakedAgentProgram() {}

    /** Lets everybody with the token do everything. */
    private static final class SoakToken implements AccessReviews {

        @Override
        public CompletableFuture<Optional<ReviewedUser>> reviewToken(String token) {
            return CompletableFuture.completedFuture(Optional.of(token)
                    .filter(TOKEN::equals)
                    .map(known -> new ReviewedUser("reader", "u-1", List.of(), Map.of())));
        }

        @Override
        public CompletableFuture<Boolean> reviewAccess(ReviewedUser user, ResourceAccess access) {
            return CompletableFuture.completedFuture(true);
        }
    }

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
                        .server(options -> options.address("127.0.0.1").port(0).reviews(new SoakToken()))
                        .build()) {
            agent.start();
            while (agent.httpsPort().isEmpty() || agent.healthPort().isEmpty()) {
                Thread.onSpinWait();
            }
            System.out.println(
                    agent.httpsPort().getAsInt() + " " + agent.healthPort().getAsInt());
            while (System.in.read() >= 0) {
                // until the test closes it
            }
        }
    }
}
