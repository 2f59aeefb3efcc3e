package dev.podcache.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Selection;
import dev.podcache.testing.NoLeaks;
import dev.podcache.time.Timekeeper;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What {@code run} refuses once it has reached the API server. */
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
}
