package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Nodes whose runtimes do not return from a call that is about the node. They hang at the same time, to save time. */
@RealServerTest
@Needs(ServerFeature.SERVICES)
@ExtendWith(NoLeaks.class)
class HangingRuntimeRealServerTest {

    private static final Duration NOT_READY_WITHIN = Duration.ofSeconds(30);

    private final RealApiServer real = RealApiServer.shared();
    private final KubernetesClient admin = real.client();
    private final Timekeeper timekeeper = Timekeeper.system();
    private final HangingNode health = new HangingNode("health");
    private final HangingNode pods = new HangingNode("pods");
    private final HangingNode statistics = new HangingNode("usage");
    private final List<HangingNode> nodes = List.of(health, pods, statistics);

    @AfterEach
    void tearDown() {
        nodes.forEach(HangingNode::close);
        timekeeper.close();
        admin.close();
    }

    private final class HangingNode implements AutoCloseable {

        private final String name = real.createNamespaceLike("hanging");
        private final String call;
        private final KubernetesClient client =
                new KubernetesClientBuilder().withConfig(real.nodeConfig(name)).build();
        private final NotifyingRuntime runtime = new NotifyingRuntime(timekeeper);
        private final NodeAgent agent = NodeAgent.builder(client)
                .node(name)
                .runtime(runtime)
                // so that only a change can be the reason of a report
                .statusPeriods(Duration.ofMinutes(2), Duration.ofMinutes(5))
                .leaseDuration(Duration.ofSeconds(8))
                .withoutServer()
                .build();

        HangingNode(String call) {
            this.call = call;
        }

        Optional<NodeCondition> ready() {
            return Optional.ofNullable(admin.nodes().withName(name).get()).map(Node::getStatus).stream()
                    .flatMap(status -> status.getConditions().stream())
                    .filter(condition -> condition.getType().equals("Ready"))
                    .findFirst();
        }

        boolean isReady(String status) {
            return ready().filter(condition -> condition.getStatus().equals(status))
                    .isPresent();
        }

        Instant renewed() {
            return admin.leases()
                    .inNamespace("kube-node-lease")
                    .withName(name)
                    .get()
                    .getSpec()
                    .getRenewTime()
                    .toInstant();
        }

        @Override
        public void close() {
            runtime.release();
            agent.close();
            client.close();
            admin.nodes().withName(name).delete();
        }
    }

    @Test
    void callAboutTheNodeHangs_nodeIsNotReadyWithin30s_itsLeaseIsRenewed_andItIsReadyWhenTheCallReturns(NoLeaks leaks) {
        leaks.allowWarnings("has not returned the usage of its pods for 10 s");
        leaks.allowWarnings("no answer from"); // a busy machine
        // the pods are listed at the start
        pods.runtime.hang("pods");
        nodes.forEach(node -> node.agent.start());
        Map<String, Duration> notReadyAfter = new TreeMap<>();
        for (HangingNode node : nodes) {
            await().until(() -> node.isReady("True") || node.isReady("False"));
        }
        Stream.of(health, statistics).forEach(node -> node.runtime.hang(node.call));

        await().until(() -> {
            for (HangingNode node : nodes) {
                if (node.isReady("False")) {
                    notReadyAfter.putIfAbsent(node.call, node.runtime.hangsFor());
                }
            }
            return notReadyAfter.size() == nodes.size();
        });

        assertThat(notReadyAfter)
                .allSatisfy((call, after) -> assertThat(after).isPositive().isLessThanOrEqualTo(NOT_READY_WITHIN));
        assertThat(message(health)).contains("container runtime is down");
        assertThat(message(pods)).contains("PodRuntime.pods() has not returned for 15 s");
        assertThat(message(statistics)).contains("ContainerStatistics has not returned for 15 s");
        for (HangingNode node : nodes) {
            Instant before = node.renewed();
            await().until(() -> node.renewed().isAfter(before));
            assertThat(node.isReady("False")).isTrue();
            node.runtime.release();
            await().until(() -> node.isReady("True"));
        }
    }

    private static String message(HangingNode node) {
        NodeCondition ready = node.ready().orElseThrow();
        assertThat(ready.getReason()).isEqualTo("KubeletNotReady");
        return ready.getMessage();
    }
}
