package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** {@code run} as a process of its own that is killed without a last word, or whose server moves. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class NodeProcessRealServerTest {

    /** A quarter of it is all the time for the first TLS handshake of a JVM that has just begun. */
    private static final Duration LEASE = Duration.ofSeconds(20);

    private static final ZonedDateTime LONG_AGO = ZonedDateTime.parse("2000-01-01T00:00:00Z");
    private static final String CONFIGURATION = """
            apiVersion: kubelet.config.k8s.io/v1beta1
            kind: KubeletConfiguration
            nodeLeaseDurationSeconds: 20
            nodeStatusUpdateFrequency: 1s
            nodeStatusReportFrequency: 5m
            """;

    @TempDir
    private Path home;

    private final RealApiServer real = RealApiServer.shared();
    private final RealNode node = new RealNode(real, "process");
    private @Nullable AgentProcess agent;

    @BeforeEach
    void configure() throws IOException {
        Files.writeString(home.resolve("kubelet.yaml"), CONFIGURATION);
        Files.copy(node.kubeconfig(), home.resolve("kubeconfig.yaml"));
    }

    @AfterEach
    void endAgent() {
        kill();
        node.close();
    }

    @Test
    @Needs(ServerFeature.SERVICES)
    void killedAndStartedAgain_nothingIsReportedTwice_andNothingIsMissed() {
        for (int i = 0; i < 5; i++) {
            create("quiet-" + i);
        }
        create("leaves");
        node.create(Pods.withVolume(node.assigned("waits"), "late-secret"));
        start();
        awaitRunning("quiet-0", "quiet-1", "quiet-2", "quiet-3", "quiet-4", "leaves");
        awaitLeaseAfter(LONG_AGO);
        await().until(() ->
                !node.pod("waits").getStatus().getContainerStatuses().isEmpty());

        kill();
        Map<String, String> versions = versionsOfQuietPods();
        String uid = node.node().getMetadata().getUid();
        Lease lease = node.lease();
        node.admin.resource(Secrets.of(node.namespace, "late-secret", "v")).create();
        create("comes");
        node.admin.pods().inNamespace(node.namespace).withName("leaves").delete();
        start();

        awaitRunning("comes", "waits");
        await().until(() -> node.pod("leaves") == null);
        awaitLeaseAfter(lease.getSpec().getRenewTime());
        awaitLeaseAfter(node.lease().getSpec().getRenewTime());
        assertThat(versionsOfQuietPods()).isEqualTo(versions);
        assertThat(node.node().getMetadata().getUid()).isEqualTo(uid);
        assertThat(node.lease().getMetadata().getUid())
                .isEqualTo(lease.getMetadata().getUid());
        assertThat(node.lease().getSpec().getHolderIdentity()).isEqualTo(node.name);
    }

    @Test
    @Needs(ServerFeature.SERVICES)
    void killedAmidItsReports_startedAgain_makesTheOthersAndNoneTwice() {
        for (int i = 0; i < 40; i++) {
            create("pod-" + i);
        }
        start();
        await().pollInterval(Duration.ofMillis(10)).until(() -> !supervised().isEmpty());

        kill();
        Map<String, String> reported = runningPods();
        start();

        await().until(() -> supervised().size() == 40);
        assertThat(runningPods()).containsAllEntriesOf(reported);
    }

    @Test
    void serverMovesToAnotherAddress_leaseIsRenewedThereBeforeItLapses() throws IOException {
        int port = URI.create(real.url()).getPort();
        try (TcpProxy before = TcpProxy.to(port);
                TcpProxy after = TcpProxy.at(new InetSocketAddress("127.0.0.2", before.port()), port)) {
            Path config = home.resolve("kubeconfig.yaml");
            Files.writeString(
                    config, Files.readString(config).replace(real.url(), "https://localhost:" + before.port()));
            Files.writeString(home.resolve("hosts"), "127.0.0.1 localhost\n");
            start("-Djdk.net.hosts.file=" + home.resolve("hosts"));
            awaitLeaseAfter(LONG_AGO);
            assertThat(after.accepted()).isZero();

            Files.writeString(home.resolve("hosts"), "127.0.0.2 localhost\n");
            before.refuse(true);
            before.reset();
            ZonedDateTime last = node.lease().getSpec().getRenewTime();
            awaitLeaseAfter(last);

            assertThat(after.accepted()).isPositive();
            assertThat(Duration.between(last, node.lease().getSpec().getRenewTime()))
                    .isLessThan(LEASE);
        }
    }

    private void start(String... jvm) {
        agent = AgentProcess.start(
                home,
                List.of(jvm),
                Map.of(),
                "run",
                "--hostname-override",
                node.name,
                "--kubeconfig",
                home.resolve("kubeconfig.yaml").toString(),
                "--config",
                home.resolve("kubelet.yaml").toString());
    }

    private void kill() {
        if (agent != null) {
            agent.close();
            agent = null;
        }
    }

    private void create(String pod) {
        node.create(node.assigned(pod));
    }

    private void awaitRunning(String... pods) {
        await().until(() -> supervised().keySet().containsAll(List.of(pods)));
    }

    /** The pods that run. The agent must run too. */
    private Map<String, String> supervised() {
        if (agent != null) {
            assertThat(agent.process().isAlive()).as("%s", agent.err()).isTrue();
        }
        return runningPods();
    }

    /** The resourceVersions of the pods that were reported running. */
    private Map<String, String> runningPods() {
        return node.admin.pods().inNamespace(node.namespace).list().getItems().stream()
                .filter(pod -> "Running".equals(pod.getStatus().getPhase()))
                .collect(Collectors.toMap(
                        pod -> pod.getMetadata().getName(),
                        pod -> pod.getMetadata().getResourceVersion()));
    }

    private Map<String, String> versionsOfQuietPods() {
        Map<String, String> versions = runningPods();
        versions.keySet().removeIf(pod -> !pod.startsWith("quiet-"));
        assertThat(versions).hasSize(5);
        return versions;
    }

    private void awaitLeaseAfter(ZonedDateTime renewTime) {
        await().pollInterval(Duration.ofMillis(50)).until(() -> {
            Lease there = node.lease();
            return there != null && there.getSpec().getRenewTime().isAfter(renewTime);
        });
    }
}
