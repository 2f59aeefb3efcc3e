package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.api.model.Node;
import java.io.IOException;
import java.net.URI;
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

/** Agents that get little CPU time when they start. */
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
    private final List<CpuLimit> limits = new ArrayList<>();

    @AfterEach
    void tearDown() {
        limits.forEach(CpuLimit::close);
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

    @Test
    void oneAgentWithALimitOf150m_saysWhatItWaitsFor_andBecomesReady() throws IOException {
        RealNode node = new RealNode(real, "slow");
        nodes.add(node);
        try (TcpProxy proxy = TcpProxy.to(URI.create(real.url()).getPort())) {
            proxy.refuse(true);
            String reached = "https://127.0.0.1:" + proxy.port();
            Path kubeconfig = Files.writeString(
                    home.resolve("slow.kubeconfig"),
                    Files.readString(node.kubeconfig()).replace(real.url(), reached));
            AgentProcess agent = start(node, kubeconfig);
            agents.add(agent);
            long start = System.nanoTime();
            limits.add(CpuLimit.of150m(agent.process()));
            await().atMost(LONG).until(() -> {
                assertNoneHasEnded();
                return agent.out().contains("waiting");
            });
            assertThat(agent.out()).contains("API server " + reached);

            proxy.refuse(false);

            await().atMost(LONG).until(() -> {
                assertNoneHasEnded();
                return isReady(node);
            });
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            // else it was not limited
            assertThat(agent.process().info().totalCpuDuration().orElse(Duration.ZERO))
                    .isLessThan(took.dividedBy(2));
        }
    }

    private AgentProcess start(RealNode node) throws IOException {
        return start(node, node.kubeconfig());
    }

    private AgentProcess start(RealNode node, Path kubeconfig) throws IOException {
        return AgentProcess.start(
                Files.createDirectory(home.resolve(node.name)),
                List.of("-Xmx64m", "-Xss256k"),
                Map.of(),
                "run",
                "--hostname-override",
                node.name,
                "--kubeconfig",
                kubeconfig.toString());
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
