package dev.podcache.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.cli.output.Console;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.embedded.StatusException;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class DemoNodeTest {

    private final DemoCluster cluster = DemoCluster.start(1);
    private final RecordedOutput recorded = RecordedOutput.ofJson();
    private final CompletableFuture<Void> stop = new CompletableFuture<>();

    @AfterEach
    void closeCluster() {
        cluster.close();
    }

    private void play() {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        Console console = new Console(nowhere, nowhere, Map.of(), Path.of(""), stop, level -> {});
        new DemoNode(cluster, recorded.events(), console, Duration.ofSeconds(Patience.SECONDS)).play();
    }

    @Test
    void play_podWaitsForItsSecretRunsAndIsRemoved(NoLeaks leaks) {
        leaks.allowWarnings("kube-node-lease");
        play();

        assertThat(recorded.objects())
                .filteredOn(event -> event.path("event").asText().equals("pod"))
                .extracting(event -> event.path("phase").asText())
                // first ContainerCreating, then CreateContainerConfigError
                .containsExactly("Pending", "Pending", "Running", "Succeeded", "ended");
        assertThat(recorded.lines()).noneMatch(line -> line.contains("ZGVtby1sYXRl") || line.contains("demo-late"));
        assertThat(cluster.cluster().get(Node.class, "", "hollow-1").getStatus().getConditions())
                .hasSize(4);
        assertThatThrownBy(() -> cluster.cluster().get(Pod.class, "shop", "early-0"))
                .isInstanceOf(StatusException.class);
    }

    @Test
    void play_userWantsAnEnd_endsBeforeThePod(NoLeaks leaks) {
        leaks.allowWarnings("kube-node-lease");
        stop.complete(null);

        play();

        assertThat(recorded.objects()).extracting(DemoNodeTest::name).doesNotContain("cluster");
    }

    private static String name(JsonNode event) {
        return event.path("event").asText();
    }
}
