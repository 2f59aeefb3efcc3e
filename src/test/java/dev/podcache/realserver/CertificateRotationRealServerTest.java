package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer.Heartbeats;
import dev.podcache.kubelet.nodelease.NodeLeaseController;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.testing.Effort;
import dev.podcache.testing.KubeconfigFile;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Client certificates that live for seconds, or nightly for two minutes, and are replaced before they expire, as the
 * kubelet's are after months. Only the transport knows of it: no get and no new registration fails, and the lease of the
 * node is renewed.
 */
@RealServerTest
@NullUnmarked
@ExtendWith(NoLeaks.class)
@Timeout(value = 1, unit = TimeUnit.HOURS)
class CertificateRotationRealServerTest {

    private static final Duration LIFE = Duration.ofSeconds(Effort.NIGHTLY ? 120 : 6);

    /** Leaves a busy machine four seconds to write the next certificate. */
    private static final Duration REPLACED_AFTER = Duration.ofSeconds(Effort.NIGHTLY ? 60 : 2);

    private static final int ROTATIONS = Effort.NIGHTLY ? 10 : 4;

    private static final Duration LEASE = Duration.ofSeconds(12);

    /** As long as a get may wait in the worst case. */
    private static final Duration READ_WITHIN = Duration.ofSeconds(20);

    private final RealApiServer real = RealApiServer.shared();
    private final TestNamespace shop = new TestNamespace(real);
    private final Node node = shop.admin()
            .resource(new NodeBuilder()
                    .withNewMetadata()
                    .withGenerateName("rotated-")
                    .endMetadata()
                    .build())
            .create();
    private final List<String> failures = new ArrayList<>();
    private Duration longestWithoutRenewal = Duration.ZERO;
    private Instant replaceAt = Instant.EPOCH;
    private int replaced;
    private int registered;

    @TempDir
    private Path folder;

    /** Puts a new certificate where the client reads it. */
    private interface Rotation {
        void replace() throws IOException;
    }

    @BeforeEach
    void allowLateAnswers(NoLeaks leaks) {
        leaks.allowWarnings("no answer from");
    }

    @AfterEach
    void tearDown() {
        shop.admin().resource(node).delete();
        shop.close();
    }

    @Test
    void certificateFileReplaced_severalTimes_nothingFails() throws IOException {
        Path certificate = folder.resolve("client.pem");
        writeCertificate(certificate);
        Path key = Files.writeString(folder.resolve("client.key"), keyPem());
        Config config = new ConfigBuilder(real.config())
                .withClientCertData(null)
                .withClientKeyData(null)
                .withClientCertFile(certificate.toString())
                .withClientKeyFile(key.toString())
                .build();

        rotate(config, () -> writeCertificate(certificate));

        assertNothingFailed();
    }

    @Test
    void certificateInTheKubeconfigReplaced_severalTimes_nothingFails() throws IOException {
        Path kubeconfig = folder.resolve("kubeconfig");
        writeKubeconfig(kubeconfig);

        rotate(Config.fromKubeconfig(kubeconfig.toFile()), () -> writeKubeconfig(kubeconfig));

        assertNothingFailed();
    }

    @Test
    void certificateInTheKubeconfigReplaced_severalTimes_leaseIsRenewed() throws IOException {
        Path kubeconfig = folder.resolve("kubeconfig");
        writeKubeconfig(kubeconfig);

        try (KubernetesClient client = TestNamespace.clientOf(Config.fromKubeconfig(kubeconfig.toFile()));
                Fabric8ApiServer api = Fabric8ApiServer.of(client)) {
            rotate(api, () -> writeKubeconfig(kubeconfig), () -> {});
        }

        assertNothingFailed();
    }

    /** Reads and registers under both strategies while certificates come and go. */
    private void rotate(Config config, Rotation rotation) throws IOException {
        shop.put("first", "v");
        try (KubernetesClient client = TestNamespace.clientOf(config);
                Fabric8ApiServer api = Fabric8ApiServer.of(client);
                Podcache watching = open(api, ChangeDetectionStrategy.WATCH);
                Podcache caching = open(api, ChangeDetectionStrategy.CACHE)) {
            List<Podcache> caches = List.of(watching, caching);
            for (Podcache cache : caches) {
                replaceInTime(rotation);
                register(cache, "first");
            }
            rotate(api, rotation, () -> {
                String late = "late-" + registered++;
                shop.put(late, "v");
                for (Podcache cache : caches) {
                    replaceInTime(rotation);
                    read(cache, "first");
                    register(cache, late);
                }
            });
        }
    }

    private static Podcache open(Fabric8ApiServer api, ChangeDetectionStrategy strategy) {
        return Podcache.builder(api)
                .strategy(strategy)
                .readTimeout(READ_WITHIN)
                .firstSyncTimeout(READ_WITHIN)
                .defaultTtl(Duration.ofSeconds(1))
                .build();
    }

    /** Renews the lease and does {@code use} again and again while certificates come and go. */
    private void rotate(Fabric8ApiServer api, Rotation rotation, Runnable use) throws IOException {
        Heartbeats heartbeats = api.heartbeats(LEASE);
        NodeLeaseController lease = new NodeLeaseController(
                heartbeats.leases(),
                heartbeats.nodes(),
                new NodeLeaseOptions(node.getMetadata().getName(), LEASE, heartbeats::reconnect),
                api.timekeeper());
        lease.startAsync().awaitRunning();
        try {
            await().until(() -> {
                replaceInTime(rotation);
                return lease.sinceRenewal().isPresent();
            });
            Instant firstOneExpired = Instant.now().plus(LIFE);
            await().atMost(REPLACED_AFTER.multipliedBy(ROTATIONS).plusMinutes(1))
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> {
                        replaceInTime(rotation);
                        use.run();
                        Duration since = lease.sinceRenewal().orElseThrow();
                        longestWithoutRenewal =
                                since.compareTo(longestWithoutRenewal) > 0 ? since : longestWithoutRenewal;
                        boolean renewedLater = Instant.now().minus(since).isAfter(firstOneExpired);
                        return hasFailed() || (replaced > ROTATIONS && renewedLater);
                    });
        } finally {
            lease.stopAsync().awaitTerminated();
        }
    }

    private void replaceInTime(Rotation rotation) {
        if (Instant.now().isAfter(replaceAt)) {
            replaceAt = Instant.now().plus(REPLACED_AFTER);
            replaced++;
            try {
                rotation.replace();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private boolean hasFailed() {
        return !failures.isEmpty() || longestWithoutRenewal.compareTo(LEASE) >= 0;
    }

    private void register(Podcache cache, String secret) {
        cache.registerPod(shop.pod("pod-of-" + secret, "", secret));
        read(cache, secret);
    }

    private void read(Podcache cache, String secret) {
        try {
            assertThat(Secrets.value(cache.secrets().getObject(shop.name(), secret)))
                    .isEqualTo("v");
        } catch (ObjectUnavailableException e) {
            failures.add("Secret " + secret + ": " + e);
        }
    }

    private void assertNothingFailed() {
        assertThat(failures).as("failed gets of " + registered + " objects").isEmpty();
        assertThat(longestWithoutRenewal).as("from one renewal to the next").isLessThan(LEASE);
    }

    private void writeCertificate(Path file) throws IOException {
        Path next = folder.resolve("next.pem");
        real.writeCertificate(next, Instant.now().plus(LIFE));
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private void writeKubeconfig(Path file) throws IOException {
        KubeconfigFile.write(file, real, Instant.now().plus(LIFE));
    }

    private String keyPem() {
        return new String(Base64.getDecoder().decode(real.config().getClientKeyData()), StandardCharsets.US_ASCII);
    }
}
