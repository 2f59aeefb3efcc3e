package dev.podcache.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.StatusException;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A command that reads the nodes of an embedded server, and what each such command does if it cannot. */
abstract class ServedCommandFixture extends ConsoleFixture {

    private final Timekeeper timekeeper = Timekeeper.system();
    final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    final EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
    Path kubeconfig = Path.of("");

    @BeforeEach
    void writeKubeconfig() throws IOException {
        kubeconfig = kubeconfig(server.url());
    }

    @AfterEach
    void tearDown() {
        server.close();
        cluster.close();
        timekeeper.close();
    }

    /** Starts the command with these options and those that it needs. */
    abstract CommandRun start(String... options);

    @Test
    void mayNotListNodes_isAnErrorThatNamesWhatToGrant() throws Exception {
        server.faults()
                .fail(
                        StatusException.forbidden(Resource.NODES, ""),
                        RequestPattern.any().resource(Resource.NODES));
        try (CommandRun run = start("--for", "3s")) {
            assertThat(run.awaitEnd()).isEqualTo(1);

            assertThat(run.err())
                    .singleElement()
                    .asString()
                    .startsWith("error: API server " + server.url())
                    .contains(": LIST nodes with metadata.name=", "403")
                    .endsWith("; grant list and watch on nodes")
                    .doesNotContain("pods");
        }
    }

    @Test
    void serverDoesNotAnswer_isAnErrorWithItsAddress() throws Exception {
        server.close();
        try (CommandRun run = start("--for", "3s")) {
            assertThat(run.awaitEnd()).isEqualTo(1);

            assertThat(run.err().get(0)).startsWith("error: API server " + server.url());
        }
    }
}
