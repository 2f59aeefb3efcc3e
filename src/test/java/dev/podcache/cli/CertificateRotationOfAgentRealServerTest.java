package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Effort;
import dev.podcache.testing.KubeconfigFile;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
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

/** {@code run} with a kubeconfig whose client certificate lives for seconds, and is replaced seconds before it expires. */
@RealServerTest
@ExtendWith(NoLeaks.class)
@Timeout(value = 1, unit = TimeUnit.HOURS)
class CertificateRotationOfAgentRealServerTest {

    private static final Duration LIFE = Duration.ofSeconds(Effort.NIGHTLY ? 120 : 6);

    /** Leaves a busy machine four seconds to write the next certificate. */
    private static final Duration REPLACED_AFTER = Duration.ofSeconds(Effort.NIGHTLY ? 60 : 2);

    private static final Duration LEASE = Duration.ofSeconds(12);
    private static final Duration ROTATES_FOR = LIFE.multipliedBy(Effort.NIGHTLY ? 5 : 1);

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
    void certificateReplaced_severalTimes_leaseNeverLapses() {
        startAgent();
        Instant firstOneExpired = Instant.now().plus(LIFE);
        Instant end = Instant.now().plus(ROTATES_FOR);

        await().atMost(ROTATES_FOR.plusMinutes(1))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> {
                    replaceCertificateInTime();
                    boolean renewedLater = renewedAt().isAfter(firstOneExpired);
                    return sinceRenewal().compareTo(LEASE) >= 0
                            || (renewedLater && Instant.now().isAfter(end));
                });

        assertThat(sinceRenewal()).isLessThan(LEASE);
    }

    @Test
    @Needs(ServerFeature.SERVICES)
    void certificateReplaced_firstOneExpired_newPodWithASecretRuns() {
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
        return Duration.between(renewedAt(), Instant.now());
    }

    private Instant renewedAt() {
        Lease lease = node.lease();
        return lease.getSpec().getRenewTime().toInstant();
    }

    private void replaceCertificateInTime() throws IOException {
        if (Instant.now().isAfter(replaceAt)) {
            replaceAt = Instant.now().plus(REPLACED_AFTER);
            KubeconfigFile.write(home.resolve("kubeconfig"), real, Instant.now().plus(LIFE));
        }
    }
}
