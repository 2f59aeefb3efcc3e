package dev.podcache.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.UUID;
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

    private static final Duration LEASE = Duration.ofSeconds(8);
    private static final ZonedDateTime LONG_AGO = ZonedDateTime.parse("2000-01-01T00:00:00Z");
    private static final String CONFIGURATION = """
            apiVersion: kubelet.config.k8s.io/v1beta1
            kind: KubeletConfiguration
            nodeLeaseDurationSeconds: 8
            nodeStatusUpdateFrequency: 1s
            nodeStatusReportFrequency: 5m
            """;

    @TempDir
    private Path home;

    private final String name = "process-" + UUID.randomUUID().toString().substring(0, 8);
    private final String namespace = "of-" + name;
    private final RealApiServer real = RealApiServer.shared();
    private final KubernetesClient admin = real.client();
    private @Nullable AgentProcess agent;

    @BeforeEach
    void makeNamespace() throws IOException {
        Files.writeString(home.resolve("kubelet.yaml"), CONFIGURATION);
        Files.copy(real.kubeconfigFor("system:node:" + name, "system:nodes"), home.resolve("kubeconfig.yaml"));
        real.kubectl("create", "namespace", namespace);
        real.kubectl("create", "serviceaccount", "default", "-n", namespace);
    }

    @AfterEach
    void endAgent() {
        kill();
        admin.pods().inNamespace(namespace).withGracePeriod(0).delete();
        admin.close();
    }

    @Test
    void killedAndStartedAgain_nothingIsReportedTwice_andNothingIsMissed() {
        for (int i = 0; i < 5; i++) {
            create("quiet-" + i);
        }
        create("leaves");
        admin.resource(waitingFor("late-secret")).create();
        start();
        awaitRunning("quiet-0", "quiet-1", "quiet-2", "quiet-3", "quiet-4", "leaves");
        awaitLeaseAfter(LONG_AGO);
        await().until(() -> !pod("waits").getStatus().getContainerStatuses().isEmpty());

        kill();
        Map<String, String> versions = versionsOfQuietPods();
        String node = admin.nodes().withName(name).get().getMetadata().getUid();
        Lease lease = lease();
        admin.resource(Secrets.of(namespace, "late-secret", "v")).create();
        create("comes");
        admin.pods().inNamespace(namespace).withName("leaves").delete();
        start();

        awaitRunning("comes", "waits");
        await().until(() ->
                admin.pods().inNamespace(namespace).withName("leaves").get() == null);
        awaitLeaseAfter(lease.getSpec().getRenewTime());
        awaitLeaseAfter(lease().getSpec().getRenewTime());
        assertThat(versionsOfQuietPods()).isEqualTo(versions);
        assertThat(admin.nodes().withName(name).get().getMetadata().getUid()).isEqualTo(node);
        assertThat(lease().getMetadata().getUid()).isEqualTo(lease.getMetadata().getUid());
        assertThat(lease().getSpec().getHolderIdentity()).isEqualTo(name);
    }

    @Test
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
            ZonedDateTime last = lease().getSpec().getRenewTime();
            awaitLeaseAfter(last);

            assertThat(after.accepted()).isPositive();
            assertThat(Duration.between(last, lease().getSpec().getRenewTime())).isLessThan(LEASE);
        }
    }

    private void start(String... jvm) {
        agent = AgentProcess.start(
                home,
                List.of(jvm),
                Map.of(),
                "run",
                "--hostname-override",
                name,
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
        admin.resource(assigned(pod).build()).create();
    }

    private Pod waitingFor(String secret) {
        return Pods.withVolume(assigned("waits"), secret).build();
    }

    private PodBuilder assigned(String pod) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(pod)
                .endMetadata()
                .withNewSpec()
                .withNodeName(name)
                .withAutomountServiceAccountToken(false)
                .addNewContainer()
                .withName("main")
                .withImage("nginx")
                .endContainer()
                .endSpec();
    }

    private Pod pod(String pod) {
        return admin.pods().inNamespace(namespace).withName(pod).get();
    }

    private void awaitRunning(String... pods) {
        await().until(() -> supervised().keySet().containsAll(List.of(pods)));
    }

    /** The pods that run; sees to it that the agent does too, for on a busy machine its first contact may fail. */
    private Map<String, String> supervised() {
        if (agent != null && !agent.process().isAlive()) {
            start();
        }
        return runningPods();
    }

    /** The resourceVersions of the pods that were reported running. */
    private Map<String, String> runningPods() {
        return admin.pods().inNamespace(namespace).list().getItems().stream()
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

    private Lease lease() {
        return admin.leases().inNamespace("kube-node-lease").withName(name).get();
    }

    private void awaitLeaseAfter(ZonedDateTime renewTime) {
        await().pollInterval(Duration.ofMillis(50)).until(() -> {
            Lease there = lease();
            return there != null && there.getSpec().getRenewTime().isAfter(renewTime);
        });
    }
}
