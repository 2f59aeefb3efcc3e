package dev.podcache.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Effort;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** {@code run} with a kubeconfig whose client certificate lives for seconds and is replaced at half of its life. */
@RealServerTest
@ExtendWith(NoLeaks.class)
@Timeout(value = 1, unit = TimeUnit.HOURS)
class CertificateRotationOfAgentRealServerTest {

    private static final Duration LIFE = Duration.ofSeconds(Effort.NIGHTLY ? 120 : 8);
    private static final Duration LEASE = Duration.ofSeconds(12);

    /** Long enough for a lease that is no longer renewed to lapse after the first certificate has expired. */
    private static final Duration LAPSES_WITHIN = LIFE.multipliedBy(Effort.NIGHTLY ? 5 : 3);

    /** Long enough for the first certificate to expire. */
    private static final Duration EXPIRES_WITHIN = LIFE.plusSeconds(2);

    private static final String CONFIGURATION = """
            apiVersion: kubelet.config.k8s.io/v1beta1
            kind: KubeletConfiguration
            nodeLeaseDurationSeconds: 12
            """;

    @TempDir
    private Path home;

    private final RealApiServer real = RealApiServer.shared();
    private final RealNode node = new RealNode(real, "rotated");
    private @Nullable AgentProcess agent;
    private Instant replaceAt = Instant.EPOCH;

    @BeforeEach
    void configure() throws IOException {
        Files.writeString(home.resolve("kubelet.yaml"), CONFIGURATION);
    }

    @AfterEach
    void endAgent() {
        if (agent != null) {
            agent.close();
        }
        node.close();
    }

    @Test
    void certificateReplacedAtHalfLife_severalTimes_leaseNeverLapses() {
        startAgent();
        Instant end = Instant.now().plus(LAPSES_WITHIN);

        await().atMost(LAPSES_WITHIN.plusMinutes(1))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> {
                    replaceCertificateInTime();
                    return Instant.now().isAfter(end) || sinceRenewal().compareTo(LEASE) >= 0;
                });

        assertThat(sinceRenewal()).isLessThan(LEASE);
    }

    @Test
    @Needs(ServerFeature.SERVICES)
    void certificateReplacedAtHalfLife_firstOneExpired_newPodWithASecretRuns() {
        startAgent();
        Instant end = Instant.now().plus(EXPIRES_WITHIN);
        await().atMost(EXPIRES_WITHIN.plusMinutes(1))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> {
                    replaceCertificateInTime();
                    return Instant.now().isAfter(end);
                });

        node.admin.resource(Secrets.of(node.namespace, "late", "v")).create();
        node.create(Pods.withVolume(node.assigned("late"), "late"));

        await().until(() -> {
            replaceCertificateInTime();
            Pod pod = node.pod("late");
            return pod != null && "Running".equals(pod.getStatus().getPhase());
        });
    }

    private void startAgent() {
        await().until(() -> {
            replaceCertificateInTime();
            // on a busy machine the first contact may be given up
            if (agent == null || !agent.process().isAlive()) {
                agent = run();
            }
            return node.lease() != null;
        });
    }

    private AgentProcess run() {
        return AgentProcess.start(
                home,
                List.of(),
                Map.of(),
                "run",
                "--hostname-override",
                node.name,
                "--kubeconfig",
                home.resolve("kubeconfig").toString(),
                "--config",
                home.resolve("kubelet.yaml").toString());
    }

    private Duration sinceRenewal() {
        Lease lease = node.lease();
        return Duration.between(lease.getSpec().getRenewTime().toInstant(), Instant.now());
    }

    private void replaceCertificateInTime() {
        if (Instant.now().isBefore(replaceAt)) {
            return;
        }
        replaceAt = Instant.now().plus(LIFE.dividedBy(2));
        try {
            writeKubeconfig();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void writeKubeconfig() throws IOException {
        Path certificate = home.resolve("client.pem");
        real.writeCertificate(certificate, Instant.now().plus(LIFE));
        Path next = Files.writeString(home.resolve("kubeconfig.next"), """
                apiVersion: v1
                kind: Config
                current-context: test
                contexts: [{name: test, context: {cluster: test, user: test}}]
                clusters: [{name: test, cluster: {server: "%s", certificate-authority-data: "%s"}}]
                users: [{name: test, user: {client-certificate-data: "%s", client-key-data: "%s"}}]
                """.formatted(
                        real.url(),
                        real.config().getCaCertData(),
                        Base64.getEncoder().encodeToString(Files.readAllBytes(certificate)),
                        real.config().getClientKeyData()));
        Files.move(next, home.resolve("kubeconfig"), StandardCopyOption.REPLACE_EXISTING);
    }
}
