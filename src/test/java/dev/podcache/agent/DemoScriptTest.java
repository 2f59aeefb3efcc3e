package dev.podcache.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.agent.DemoSchedule.Act;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class DemoScriptTest {

    private final RecordedAccount recorded = RecordedAccount.ofText();
    private final DemoCluster cluster = DemoCluster.start(1);
    private final KubernetesClient client = cluster.client();
    private final Fabric8ApiServer server = Fabric8ApiServer.of(client);

    @AfterEach
    void close() {
        server.close();
        client.close();
        cluster.close();
    }

    @Test
    void play_cacheAndGet_promisesOfTheCacheAreMadeUnderCacheOnly() {
        play(ChangeDetectionStrategy.GET, Act.ROTATION);
        play(ChangeDetectionStrategy.CACHE, Act.ROTATION);

        assertThat(recorded.lines())
                .contains(
                        "-- Secret shop/db-password is rotated.",
                        "-- Secret shop/db-password is rotated. Its pods get the new one within the TTL, 1 s.");
    }

    @Test
    void play_userDeletedTheSecretBefore_actIsSkipped() {
        cluster.cluster().delete(cluster.cluster().get(Secret.class, "shop", "db-password"));

        play(ChangeDetectionStrategy.CACHE, Act.ROTATION);

        assertThat(recorded.lines()).last().asString().contains("skipped", "db-password");
    }

    @Test
    void play_nothingWasDeleted_nothingReturns() {
        play(ChangeDetectionStrategy.CACHE, Act.RETURN);

        assertThat(recorded.lines()).isEmpty();
    }

    private void play(ChangeDetectionStrategy strategy, Act act) {
        Account account = recorded.account();
        Changes changes = new Changes(account, account::seconds);
        NodeAgentOptions options =
                new NodeAgentOptions(DemoCluster.NODE, strategy, Duration.ofSeconds(1), Duration.ofSeconds(1));
        Audience audience = new Audience(account, changes, cluster::requests);
        try (NodeAgent agent = new NodeAgent(server, options, audience)) {
            new DemoScript(cluster, agent, changes, account).play(act);
        }
    }
}
