package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TcpProxy;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** HTTP/2 without TLS, which a server does not announce. */
@ExtendWith(NoLeaks.class)
class PlainHttp2Test {

    private static final int MANY = 30;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration LONGER_THAN_A_FEW_DIALS = Duration.ofMillis(3_500);

    @Test
    void serverIsAwayForAWhile_isNotTakenForOneThatSpeaksHttp11(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying: ");
        assertFewConnectionsAfter(proxy -> proxy.refuse(true), proxy -> proxy.refuse(false));
    }

    @Test
    void serverIsSilentForAWhile_isNotTakenForOneThatSpeaksHttp11(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying: ");
        assertFewConnectionsAfter(TcpProxy::freezeNew, TcpProxy::thaw);
    }

    private static void assertFewConnectionsAfter(Consumer<TcpProxy> trouble, Consumer<TcpProxy> end) {
        try (Timekeeper timekeeper = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
                TcpProxy proxy = TcpProxy.to(server.port());
                KubernetesClient client = client(proxy);
                Podcache cache = Podcache.builder(client).build()) {
            List<String> names =
                    IntStream.range(0, MANY).mapToObj(i -> "secret-" + i).toList();
            names.forEach(name -> cluster.create(Secrets.of(ObjectKey.of("shop", name), "v1")));
            cache.registerPod(Pods.withSecrets("shop", "web", "uid-1", names));
            await().until(() -> server.openWatches() == MANY);

            trouble.accept(proxy);
            proxy.reset();
            await().pollDelay(LONGER_THAN_A_FEW_DIALS).until(() -> server.openWatches() == 0);
            end.accept(proxy);
            await().until(() -> server.openWatches() == MANY);

            assertThat(server.connections()).isLessThan(5);
        }
    }

    private static KubernetesClient client(TcpProxy proxy) {
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl("http://127.0.0.1:" + proxy.port())
                .withConnectionTimeout((int) CONNECT_TIMEOUT.toMillis())
                .build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }
}
