package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import io.fabric8.kubernetes.api.model.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Many agents that start at the same time get little CPU time each. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class StartUnderLoadRealServerTest {

    private static final int AGENTS = 8;

    /** Seconds on an idle machine. */
    private static final Duration LONG = Duration.ofMinutes(4);

    @TempDir
    private Path home;

    private final RealApiServer real = RealApiServer.shared();
    private final List<RealNode> nodes = new ArrayList<>();
    private final List<AgentProcess> agents = new ArrayList<>();

    @AfterEach
    void tearDown() {
        agents.forEach(AgentProcess::close);
        nodes.forEach(node -> {
            node.admin.nodes().withName(node.name).delete();
            node.close();
        });
    }

    @Test
    void eightAgentsAtOnce_allBecomeReady_andNoneGivesUp() throws IOException {
        for (int i = 0; i < AGENTS; i++) {
            nodes.add(new RealNode(real, "crowd"));
        }

        for (RealNode node : nodes) {
            agents.add(start(node));
        }

        await().atMost(LONG).until(() -> {
            assertNoneHasEnded();
            return nodes.stream().allMatch(StartUnderLoadRealServerTest::isReady);
        });
        assertNoneHasEnded();
    }

    private AgentProcess start(RealNode node) throws IOException {
        return AgentProcess.start(
                Files.createDirectory(home.resolve(node.name)),
                List.of("-Xmx64m", "-Xss256k"),
                Map.of(),
                "run",
                "--hostname-override",
                node.name,
                "--kubeconfig",
                node.kubeconfig().toString());
    }

    private void assertNoneHasEnded() {
        for (AgentProcess agent : agents) {
            assertThat(agent.process().isAlive()).as("%s", agent.err()).isTrue();
        }
    }

    private static boolean isReady(RealNode node) {
        Node there = node.node();
        return there != null
                && there.getStatus().getConditions().stream()
                        .anyMatch(condition -> condition.getType().equals("Ready")
                                && condition.getStatus().equals("True"));
    }
}
