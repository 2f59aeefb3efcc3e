package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.kubelet.podconfig.Removal;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TestCertificates;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What {@code run} refuses beside an API server, and what it tells it of the machine. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class RunCommandTest extends ConsoleFixture {

    @TempDir
    Path directory;

    @Test
    void memoryDir_isALink_isAUsageErrorAndNothingIsRegistered() throws Exception {
        Path link =
                Files.createSymbolicLink(directory.resolve("link"), Files.createDirectory(directory.resolve("real")));
        try (Timekeeper timekeeper = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster)) {
            int code = console.execute(
                    "run",
                    "--kubeconfig",
                    kubeconfig(server.url()).toString(),
                    "--node",
                    "worker-1",
                    "--processes",
                    directory.resolve("state").toString(),
                    "--memory-dir",
                    link.toString());

            assertThat(code).isEqualTo(2);
            assertThat(console.err().get(0))
                    .startsWith("error: --memory-dir: ")
                    .contains(link.toString(), "tmpfs, such as /dev/shm/podcache");
            assertThat(cluster.list(Resource.NODES, Selection.everything(), "").items())
                    .isEmpty();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void processes_onAnotherFileSystemThanTheRoot_theNodeOffersThatOne(NoLeaks leaks) throws Exception {
        Path shm = Path.of("/dev/shm");
        assumeTrue(
                Files.isWritable(shm)
                        && Files.getFileStore(shm).getTotalSpace()
                                != Files.getFileStore(Path.of("/")).getTotalSpace(),
                "no other file system at /dev/shm");
        // a tmpfs need not count inodes
        leaks.allowWarnings("inodesFree");
        Path other = Files.createTempDirectory(shm, "podcache");
        try (Timekeeper timekeeper = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
                CommandRun run = CommandRun.start(
                        "run",
                        kubeconfig(server.url()),
                        "--node",
                        "worker-1",
                        "--port",
                        String.valueOf(FreePorts.find(1).get(0)),
                        "--healthz-port",
                        "0",
                        "--processes",
                        other.resolve("not/yet/made").toString())) {
            await().until(() -> !localStorage(cluster).isEmpty());

            assertThat(run.stop()).isZero();
            assertThat(Quantity.parse(localStorage(cluster)).getNumericalAmount())
                    .isEqualByComparingTo(
                            BigDecimal.valueOf(Files.getFileStore(shm).getTotalSpace()));
        } finally {
            Removal.of(other);
        }
    }

    /** Returns the ephemeral storage that the only Node has; an empty text as long as there is none. */
    private static String localStorage(InMemoryCluster cluster) {
        return cluster.list(Resource.NODES, Selection.everything(), "").items().stream()
                .map(node -> node.at("/status/capacity/ephemeral-storage").asText())
                .findFirst()
                .orElse("");
    }

    /** The kubeconfig of a person, which is not this node's to write. */
    @Test
    void bootstrap_kubeconfigWithOtherContexts_isRefusedAndStays() throws Exception {
        try (Timekeeper timekeeper = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster)) {
            Path kubeconfig = expired(server.url());
            String content = Files.readString(kubeconfig)
                    .replace("contexts: [", "contexts: [{name: other, context: {cluster: node, user: jane}}, ");
            Files.writeString(kubeconfig, content);

            assertThat(bootstrap(server.url(), kubeconfig)).isEqualTo(1);
            assertThat(console.err())
                    .containsExactly("error: --kubeconfig " + kubeconfig
                            + " has 2 contexts, which would be lost: name a file of this node's own");
            assertThat(kubeconfig).hasContent(content);
            assertThat(server.requests().snapshot()).isEmpty();
        }
    }

    @Test
    void bootstrap_certificateCannotBeRead_endsAndNothingIsRequested() throws Exception {
        try (Timekeeper timekeeper = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster)) {
            Path kubeconfig = expired(server.url());
            Files.delete(directory.resolve("node.crt"));
            Files.createDirectory(directory.resolve("node.crt"));

            assertThat(bootstrap(server.url(), kubeconfig)).isEqualTo(1);
            assertThat(console.err())
                    .singleElement()
                    .asString()
                    .startsWith("error: the certificate of kubeconfig " + kubeconfig + " cannot be read: ");
            assertThat(server.requests().snapshot()).isEmpty();
        }
    }

    private int bootstrap(String server, Path kubeconfig) throws Exception {
        return console.execute(
                "run",
                "--node",
                "worker-1",
                "--bootstrap-kubeconfig",
                kubeconfig(server).toString(),
                "--kubeconfig",
                kubeconfig.toString(),
                "--cert-dir",
                directory.resolve("pki").toString(),
                "--for",
                "2s");
    }

    /** Returns a kubeconfig whose current context has a certificate that has expired. */
    private Path expired(String server) throws Exception {
        TestCertificates certificates = new TestCertificates();
        Files.writeString(directory.resolve("node.crt"), certificates.userPemUntil(Instant.now(), "node"));
        Files.writeString(directory.resolve("node.key"), certificates.privateKeyPem());
        return Files.writeString(directory.resolve("config"), """
                apiVersion: v1
                kind: Config
                current-context: node
                contexts: [{name: node, context: {cluster: node, user: node}}]
                clusters: [{name: node, cluster: {server: "%s"}}]
                users: [{name: node, user: {client-certificate: node.crt, client-key: node.key}}]
                """.formatted(server.replace("http:", "https:")));
    }
}
