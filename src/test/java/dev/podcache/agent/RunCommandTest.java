package dev.podcache.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** {@code run} against an API server in this process, over real HTTP. */
@ExtendWith(NoLeaks.class)
@Timeout(30)
class RunCommandTest {

    @TempDir
    private Path home;

    private final DemoCluster cluster = DemoCluster.start(1);
    private CapturedConsole console = new CapturedConsole(Path.of(""));

    @BeforeEach
    void useKubeconfigOfTheCluster() throws IOException {
        Path kubeconfig = Files.writeString(
                home.resolve("kubeconfig"),
                "apiVersion: v1\nkind: Config\ncurrent-context: x\n"
                        + "contexts:\n- name: x\n  context: {cluster: c, user: u}\n"
                        + "clusters:\n- name: c\n  cluster: {server: '" + cluster.url() + "'}\n");
        console = new CapturedConsole(home).with("KUBECONFIG", kubeconfig.toString());
    }

    @AfterEach
    void closeCluster() {
        cluster.close();
    }

    @Test
    void run_json_registersReadsAndSumsUp() {
        int code = console.execute(
                "run",
                "--hostname-override",
                DemoCluster.NODE,
                "--for",
                "2s",
                "--sync-frequency",
                "100ms",
                "-o",
                "json");

        List<JsonNode> events =
                console.out().stream().map(RecordedAccount::parsed).toList();
        JsonNode summary = events.get(events.size() - 1);
        assertThat(code).isZero();
        assertThat(console.err()).isEmpty();
        assertThat(events.get(0).path("event").asText()).isEqualTo("started");
        assertThat(events)
                .filteredOn(event -> event.path("event").asText().equals("registered"))
                .hasSize(12);
        assertThat(summary.path("event").asText()).isEqualTo("summary");
        assertThat(summary.path("references").asInt()).isEqualTo(53);
        assertThat(summary.path("failed").asInt()).isZero();
        assertThat(summary.path("hits").asLong()).isPositive();
    }

    @Test
    void run_objectChanges_isToldWithoutItsContent() throws Exception {
        CompletableFuture<Integer> code = start("--sync-frequency", "50ms");
        await().until(() -> printed("registered   pod shop/web-1"));
        Secret secret = cluster.cluster().get(Secret.class, "shop", "db-password");
        secret.getData().put("password", "c2VjcmV0LWNhbmFyeQ==");
        await().until(() -> cluster.requestsByKind().getOrDefault("get secrets", 0L) >= 22);
        cluster.cluster().update(secret);

        await().until(() -> printed("changed      Secret shop/db-password: resourceVersion"));

        console.stop();
        assertThat(code.get(10, TimeUnit.SECONDS)).isZero();
        assertThat(String.join("\n", console.out())).doesNotContain("c2VjcmV0", "secret-canary", "demo-first");
    }

    @Test
    void run_nodeWithoutPods_saysThatThereAreNone() throws Exception {
        CompletableFuture<Integer> code = CompletableFuture.supplyAsync(
                () -> console.execute("run", "--hostname-override", "elsewhere", "--for", "1s"));

        assertThat(code.get(20, TimeUnit.SECONDS)).isZero();
        assertThat(printed("no pods are assigned to this node")).isTrue();
    }

    @Test
    void run_strategyWatch_failsSayingThatItIsNotThereYet() {
        int code = console.execute("run", "--hostname-override", DemoCluster.NODE, "--strategy", "watch");

        assertThat(code).isEqualTo(1);
        assertThat(console.out()).isEmpty();
        assertThat(console.err()).singleElement().asString().contains("WATCH is not available in this version");
    }

    private CompletableFuture<Integer> start(String... options) {
        String[] arguments = new String[options.length + 3];
        arguments[0] = "run";
        arguments[1] = "--hostname-override";
        arguments[2] = DemoCluster.NODE;
        System.arraycopy(options, 0, arguments, 3, options.length);
        return CompletableFuture.supplyAsync(() -> console.execute(arguments));
    }

    private boolean printed(String text) {
        return console.out().stream().anyMatch(line -> line.contains(text));
    }
}
