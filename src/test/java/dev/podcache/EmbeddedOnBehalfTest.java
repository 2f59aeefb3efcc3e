package dev.podcache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.OnBehalfContract;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.Slow;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads on behalf of a subject on the embedded server, also while its authorizer lags. */
@Slow
@ExtendWith(NoLeaks.class)
class EmbeddedOnBehalfTest extends OnBehalfContract {

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer server =
            EmbeddedApiServer.builder(cluster).rbac().start();
    private final KubernetesClient admin = client("admin", "system:masters");

    private KubernetesClient client(String user, String... groups) {
        return new KubernetesClientBuilder()
                .withConfig(Config.fromKubeconfig(server.kubeconfigFor(user, groups)))
                .build();
    }

    @BeforeEach
    void warn(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        leaks.allowWarnings("is watched by name instead");
    }

    @AfterEach
    void stop() {
        admin.close();
        server.close();
        cluster.close();
        timekeeper.close();
    }

    @Override
    protected KubernetesClient admin() {
        return admin;
    }

    @Override
    protected String namespace() {
        return "shop";
    }

    @Override
    protected KubernetesClient userWithoutRights(String name) {
        return client(name, "system:authenticated");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 100, 3000})
    void authorizerThatLags_isServedElevenSecondsAtMost(int millis) {
        try (Podcache cache = register()) {
            admin.resource(Secrets.of("shop", "tls", "v1")).create();
            allowed(cache, GivenBy.ROLE_BINDING);
            server.authorizerLag(Duration.ofMillis(millis));

            Duration served = servedAfterRevocation(cache, GivenBy.ROLE_BINDING);

            assertThat(served).isGreaterThanOrEqualTo(Duration.ofMillis(millis)).isLessThan(Duration.ofSeconds(11));
        }
    }
}
