package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ObjectArrays;
import dev.podcache.cli.output.RecordedOutput;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.Faults;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NoLeaks.class)
class MainTest extends ConsoleFixture {

    @Test
    void execute_noArguments_printsTheCommands() {
        int code = console.execute();

        assertThat(code).isZero();
        assertThat(console.out())
                .anyMatch(line -> line.matches(" +demo  .+"))
                .anyMatch(line -> line.matches(" +run  .+"))
                .anyMatch(line -> line.matches(" +doctor  .+"));
        assertThat(console.err()).isEmpty();
    }

    @Test
    void completion_isAScriptThatKnowsTheCommands() {
        int code = console.execute("completion");

        assertThat(code).isZero();
        assertThat(String.join("\n", console.out())).contains("complete ", "podcache", "doctor", "--config-maps");
        assertThat(console.err()).isEmpty();
    }

    @Test
    void completion_ofAnEnumeration_hasTheValuesAsTheHelpSpellsThem() {
        console.execute("completion");

        assertThat(String.join("\n", console.out()))
                .contains("(\"Get\" \"Cache\" \"Watch\")", "(\"text\" \"json\")")
                .doesNotContain("\"WATCH\"", "\"TEXT\"");
    }

    @Test
    void version_json_isOneObject() {
        int code = console.execute("version", "-o", "json");

        assertThat(code).isZero();
        assertThat(console.out()).hasSize(1);
        assertThat(RecordedOutput.parsed(console.out().get(0)).path("fabric8").asText())
                .isNotEmpty();
    }

    @Test
    void version_text_isALineEach() {
        console.execute("version");

        assertThat(console.out()).hasSize(3).first().asString().startsWith("podcache  ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "demo --for soon | \"soon\" is not a duration: write a number with a unit, such as 15s, 1m30s or 500ms",
                "demo --for 10 | \"10\" has no unit: write 10s for seconds",
                "demo --for 0s | \"0s\" must be positive",
                "demo --strategy Sometimes | --strategy is \"Sometimes\": it must be Get, Cache or Watch",
                "demo -o yaml | --output is \"yaml\": it must be text or json",
                "demo -v loud | option '--verbose': 'loud' is not a whole number",
                "demo --fro 15s | '--fro'",
                "demo twice | 'twice'",
                "run --sync-frequency fast | \"fast\" is not a duration",
                "run --hostname-override worker-1 --max-pods many | 'many' is not a whole number",
                "run --hostname-override worker-1 --max-pods -1 | --max-pods is -1: it must be a whole number from 0",
                "run --hostname-override worker-1 --register-node=maybe | 'maybe'",
                "run --hostname-override worker-1 --node-labels a/b/c=d | --node-labels: label key \"a/b/c\" is not legal",
                "plan --nodes 0 | the number of nodes must be from 1 to 100000000, but is 0",
                "plan --profile quick | --profile is 'quick': write default, fast, medium, low or all",
                "plan --node-lease-duration 1500ms | leaseDuration must be a positive number of whole seconds",
                "plan --nodes 3 --failing-nodes 4 | the failing nodes must be at most the 3 nodes, but are 4",
                "plan --changes-per-hour -1 | the changes per hour must be a number from 0 to 100000000, but are -1.0",
                "plan --http2-max-streams-per-connection 0 | the stream limit must be from 1 to",
                "plan --toleration never | \"never\" is not a duration",
                "plan -o yaml | --output is \"yaml\": it must be text or json",
                "dance | 'dance'",
                "--for 15s | '--for'",
                "observe --hostname-override worker-1 | '--hostname-override'",
                "rbac --hostname-override worker-1 | '--hostname-override'",
                "run --node worker-1 --memory-dir /dev/shm/podcache | --memory-dir needs --processes",
                "run --node worker-1 --node-lease-duration-seconds 0 | --node-lease-duration-seconds is 0: it must be a whole number from 1",
                "run | the node is missing: set --node or NODE_NAME",
                "run --node worker-1 --kubeconfig= | option '--kubeconfig': it is empty: give a path",
                "run --node worker-1 --config= | option '--config': it is empty: give a path",
                "run --node worker-1 --config-dir= | option '--config-dir': it is empty: give a path",
                "run --node worker-1 --cert-dir= | option '--cert-dir': it is empty: give a path",
                "run --node worker-1 --bootstrap-kubeconfig= | option '--bootstrap-kubeconfig': it is empty: give a path",
                "run --node worker-1 --processes= | option '--processes': it is empty: give a path",
                "run --node worker-1 --processes /p --memory-dir= | option '--memory-dir': it is empty: give a path",
                "controllers --kubeconfig= | option '--kubeconfig': it is empty: give a path",
                "doctor --kubeconfig= | option '--kubeconfig': it is empty: give a path",
                "doctor --grants= | option '--grants': it is empty: give a path",
                "hollow --kubeconfig= | option '--kubeconfig': it is empty: give a path",
                "config validate --filename= | option '--filename': it is empty: give a path",
                "grants --file= | option '--file': it is empty: give a path",
                "grants --file p.yaml --kubeconfig= | option '--kubeconfig': it is empty: give a path",
                "grants --file p.yaml --dry-run --audit-log= | option '--audit-log': it is empty: give a path",
                "run --hostname-override Worker_1 | \"Worker_1\" is not a legal Kubernetes name"
            })
    void execute_wrongCommandLine_isUsageErrorThatQuotesIt(String line, String complaint) {
        int code = console.execute(line.split(" "));

        assertThat(code).isEqualTo(2);
        assertThat(console.out()).isEmpty();
        assertThat(console.err()).hasSizeBetween(2, 3);
        assertThat(console.err()).first().asString().startsWith("error: ").contains(complaint);
        assertThat(console.err()).last().asString().startsWith("try: podcache").endsWith("--help");
    }

    @Test
    void run_programOfAnother_returnsItsExitCodeAndThisProcessGoesOn() {
        assertThat(Main.run(HollowRuntime::new, "version")).isZero();
        assertThat(Main.run(HollowRuntime::new, "run")).isEqualTo(2);
    }

    @Test
    void execute_misspeltCommand_suggestsWhatComesNearest() {
        console.execute("observ");

        assertThat(console.err()).hasSize(3);
        assertThat(console.err().get(1)).contains("podcache observe");
    }

    @Test
    void run_missingKubeconfig_failsInOneLine() {
        int code = console.execute("run", "--hostname-override", "worker-1", "--kubeconfig", "/nope/kubeconfig");

        assertThat(code).isEqualTo(1);
        assertThat(console.out()).isEmpty();
        assertThat(console.err())
                .containsExactly(
                        "error: kubeconfig /nope/kubeconfig (from --kubeconfig) does not exist: give the path of an existing file");
    }

    @Test
    void run_missingKubeconfigVerbose_hasAStackTrace() {
        int code = console.execute("run", "-v", "--hostname-override", "worker-1", "--kubeconfig", "/nope/kubeconfig");

        assertThat(code).isEqualTo(1);
        assertThat(console.err()).hasSizeGreaterThan(5).anyMatch(line -> line.contains("CredentialsException"));
    }

    @ParameterizedTest
    @CsvSource({"--v=2, 1, 1", "-v=3, 1, 1", "--v=4, 6, 1000", "-v 6, 6, 1000"})
    void run_verbosityOfAKubelet_hasAStackTraceFrom4(String flag, int atLeast, int atMost) {
        console.execute(("run " + flag + " --node worker-1 --kubeconfig /nope/kubeconfig").split(" "));

        assertThat(console.err())
                .hasSizeBetween(atLeast, atMost)
                .first()
                .asString()
                .startsWith("error: kubeconfig /nope");
    }

    @Test
    void run_missingConfiguration_failsInOneLine() {
        int code = console.execute("run", "--hostname-override", "worker-1", "--config", "/nope/kubelet.yaml");

        assertThat(code).isEqualTo(1);
        assertThat(console.out()).isEmpty();
        assertThat(console.err())
                .containsExactly(
                        "error: configuration /nope/kubelet.yaml does not exist: give the path of a file with a"
                                + " KubeletConfiguration");
    }

    @Test
    void run_wrongValueInTheConfiguration_failsNamingItsLine() throws IOException {
        Path file = Files.writeString(
                home.resolve("kubelet.yaml"),
                "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: -1\n");

        int code = console.execute("run", "--hostname-override", "worker-1", "--config", file.toString());

        assertThat(code).isEqualTo(1);
        assertThat(console.err())
                .singleElement()
                .asString()
                .startsWith(
                        "error: configuration " + file + " line 3: maxPods is -1: it must be a whole number from 0");
    }

    @Test
    void run_nodeFromTheEnvironment_isTaken() {
        int code = console.with("NODE_NAME", "worker-1").execute("run");

        assertThat(code).isEqualTo(1);
        assertThat(console.err()).singleElement().asString().startsWith("error: no cluster to connect to");
    }

    @Test
    void run_deadServerAndALimit_waitsAndThenFailsNamingItsUrl() throws IOException {
        int port = FreePorts.find(1).get(0);

        int code = run("http://127.0.0.1:" + port, "--for", "6s");

        assertThat(code).isEqualTo(1);
        assertThat(console.out()).singleElement().asString().contains("waiting", "API server http://127.0.0.1:" + port);
        assertThat(console.err())
                .singleElement()
                .asString()
                .startsWith("error: API server http://127.0.0.1:" + port)
                .endsWith("check that it runs there, and the server in the kubeconfig");
    }

    @Test
    void run_deadServer_waitsUntilItIsToldToEnd() throws Exception {
        String server = "http://127.0.0.1:" + FreePorts.find(1).get(0);
        CompletableFuture<Integer> run = CompletableFuture.supplyAsync(() -> run(server), NewThread.EACH);
        await().until(() -> String.join("", console.out()).contains("waiting"));

        console.stop();

        assertThat(run.get(Patience.SECONDS, TimeUnit.SECONDS)).isZero();
        assertThat(console.err()).isEmpty();
    }

    @Test
    void run_serverThatNeverAnswersAndALimit_fails() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            int code = run("http://127.0.0.1:" + silent.getLocalPort(), "--for", "1s");

            assertThat(code).isEqualTo(1);
            assertThat(console.err()).singleElement().asString().contains("" + silent.getLocalPort());
        }
    }

    @Test
    void run_serverIsUnavailableAtFirst_nodeRegistersOnceItAnswers() {
        try (Timekeeper timekeeper = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster)) {
            Faults.Switched unavailable = server.faults().refuse(RequestPattern.any());
            CompletableFuture<Integer> run = CompletableFuture.supplyAsync(() -> run(server.url()), NewThread.EACH);
            await().until(() -> String.join("", console.out()).contains("waiting"));

            unavailable.close();

            await().until(() -> String.join("", console.out()).contains("registered"));
            console.stop();
            assertThat(run.join()).isZero();
        }
    }

    private int run(String server, String... more) {
        try {
            String[] command = {
                "run",
                "--hostname-override",
                "worker-1",
                "--kubeconfig",
                kubeconfig(server).toString(),
                "--port",
                String.valueOf(FreePorts.find(1).get(0))
            };
            return console.execute(ObjectArrays.concat(command, more, String.class));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
