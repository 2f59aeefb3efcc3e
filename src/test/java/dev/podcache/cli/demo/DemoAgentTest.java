package dev.podcache.cli.demo;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.demo.DemoScript.Act;
import dev.podcache.kubelet.server.NodeView;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.CacheState;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The agent whose page the demo serves, with the demo's workload. */
@ExtendWith(NoLeaks.class)
class DemoAgentTest {

    private final DemoCluster cluster = DemoCluster.start(3);
    private final DemoAgent agent = new DemoAgent(cluster, ChangeDetectionStrategy.WATCH, Duration.ofMillis(250));

    @BeforeEach
    void start(NoLeaks leaks) {
        leaks.allowWarnings("failed");
        leaks.allowWarnings("was not registered");
        agent.start();
    }

    @AfterEach
    void close() {
        agent.close();
        cluster.close();
    }

    private boolean has(CacheState state) {
        return agent.view().entries().stream().anyMatch(entry -> entry.cacheState() == state);
    }

    @Test
    void agent_runsAllPodsOfTheWorkload() {
        NodeView view = agent.view();

        await().untilAsserted(() -> assertThat(view.pods())
                .hasSize(12)
                .allSatisfy(pod -> assertThat(pod.getStatus().getContainerStatuses())
                        .isNotEmpty()
                        .allSatisfy(
                                container -> assertThat(container.getReady()).isTrue())));
        // pods do not wait for the registration
        await().until(() -> view.heartbeats().orElseThrow().registered());
        assertThat(view.stats().size()).isEqualTo(21);
    }

    @Test
    void agent_serverFailsAndRecovers_objectsAreStaleMeanwhile(NoLeaks leaks) {
        // if the failure comes while the status of the node is being reported
        leaks.allowWarnings("was not reported");
        await().until(() -> has(CacheState.FRESH));

        agent.play(Act.FAILURE);
        await().until(() -> has(CacheState.STALE));
        agent.play(Act.RECOVERY);

        await().until(() -> !has(CacheState.STALE));
    }
}
