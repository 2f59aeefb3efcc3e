package dev.podcache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Durations beyond what a long can hold in nanoseconds, which is how people write "never". */
@ExtendWith(NoLeaks.class)
class EndlessTimeoutTest {

    private static final Duration ENDLESS = Duration.ofSeconds(Long.MAX_VALUE);

    @ParameterizedTest
    @EnumSource
    void get_timeoutsWithoutEnd_isAnswered(ChangeDetectionStrategy strategy) {
        try (Timekeeper timekeeper = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
                KubernetesClient client = client(server);
                Podcache cache = Podcache.builder(client)
                        .strategy(strategy)
                        .readTimeout(ENDLESS)
                        .firstSyncTimeout(ENDLESS)
                        .idleAfter(ENDLESS)
                        .defaultTtl(ENDLESS)
                        .backgroundRefresh(ENDLESS)
                        .build()) {
            cluster.create(Secrets.of(ObjectKey.of("shop", "db"), "v1"));
            cache.registerPod(Pods.withSecrets("shop", "web", "uid-1", "db"));

            assertThat(Secrets.value(cache.secrets().getObject("shop", "db"))).isEqualTo("v1");
        }
    }

    private static KubernetesClient client(EmbeddedApiServer server) {
        Config config =
                new ConfigBuilder(Config.empty()).withMasterUrl(server.url()).build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }
}
