package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Slow;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * What all commands have in common, by {@code Main}: help, version, and what they do with a wrong command line, a missing
 * file, a server that is down and one that answers. A command that is added is among them.
 */
@Slow
@ExtendWith(NoLeaks.class)
class EveryCommandTest extends ConsoleFixture {

    private static final int HELP_WIDTH = 100;
    private static final Pattern EXAMPLE = Pattern.compile("^ {2}(?:.*(?:\\| |<\\())?podcache( [^|]*)?");
    private static final List<String> OF_A_CLUSTER =
            List.of("run", "observe", "hollow", "controllers", "dump", "doctor");

    /** Returns the names of all commands, such as {@code config print}. */
    static List<String> commands() {
        CommandLine root = Main.commandLine(new CapturedConsole(Path.of("")).console(), HollowRuntime::new);
        return root.getSubcommands().values().stream()
                .flatMap(command -> Stream.concat(Stream.of(command), command.getSubcommands().values().stream()))
                .map(command -> command.getCommandSpec().qualifiedName().substring("podcache ".length()))
                .toList();
    }

    static Stream<String> commandsAndNone() {
        return Stream.concat(Stream.of(""), commands().stream());
    }

    static List<String> commandsOfACluster() {
        return OF_A_CLUSTER;
    }

    private int execute(String line) {
        return console.execute(
                Splitter.on(' ').omitEmptyStrings().splitToList(line).toArray(new String[0]));
    }

    @Test
    void commands_areThoseOfTheDocumentation() throws IOException {
        String page = Files.readString(Path.of("docs/command-line.md"));

        assertThat(commands())
                .hasSizeGreaterThan(13)
                .allSatisfy(command -> assertThat(page)
                        .contains("| `podcache "
                                + Splitter.on(' ').splitToList(command).get(0) + "` |"));
    }

    @ParameterizedTest
    @MethodSource("commandsAndNone")
    void help_isDataWithUsageAndExamples(String command) {
        int code = execute(command + " --help");

        assertThat(code).isZero();
        assertThat(console.err()).isEmpty();
        assertThat(String.join("\n", console.out())).contains(("Usage: podcache " + command).strip(), "\nExample");
        assertThat(console.out()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(HELP_WIDTH));
    }

    @ParameterizedTest
    @MethodSource("commandsAndNone")
    void help_examples_areAccepted(String command) {
        execute(command + " --help");

        List<String> examples = examples(console.out());
        assertThat(examples)
                .isNotEmpty()
                .allSatisfy(example -> assertThatCode(() -> Arguments.requireAccepted(Splitter.on(' ')
                                .omitEmptyStrings()
                                .splitToList(example)
                                .toArray(new String[0])))
                        .doesNotThrowAnyException());
    }

    /** Returns the arguments in the lines after the heading. What stands two spaces to the right explains the line. */
    private static List<String> examples(List<String> help) {
        String after = String.join("\n", help).split("\nExamples?:\n", 2)[1].replace("\\\n", "");
        return after.lines()
                .map(line -> EXAMPLE.matcher(
                        line.replaceAll("(?<=\\S) {2,}[a-z].*", "").replace(")", "")))
                .filter(example -> example.find())
                .map(example -> example.group(1) == null ? "" : example.group(1).strip())
                .map(example -> example.isEmpty() || example.startsWith("-") ? ("demo " + example).strip() : example)
                .toList();
    }

    @ParameterizedTest
    @MethodSource("commandsAndNone")
    void version_isThatOfTheProgram(String command) {
        int code = execute(command + " --version");

        assertThat(code).isZero();
        assertThat(console.err()).isEmpty();
        assertThat(console.out()).singleElement().asString().startsWith("podcache ");
    }

    @ParameterizedTest
    @MethodSource("commands")
    void unknownOption_isAUsageErrorThatNamesIt(String command) {
        String required = command.equals("config validate") ? " -f file" : "";

        int code = execute(command + required + " --no-such-option");

        assertThat(code).isEqualTo(2);
        assertThat(console.out()).isEmpty();
        assertThat(console.err()).first().isEqualTo("error: Unknown option: '--no-such-option'");
        assertThat(console.err()).last().isEqualTo("try: podcache " + command + " --help");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "dance | there is no command \"dance\" | podcache",
                "config dance | there is no command \"dance\" | podcache config",
                "config | the subcommand is missing: print or validate | podcache config",
                "version twice | \"twice\" is one argument too many | podcache version",
                "demo --ui-port 65536 | --ui-port must be between 0 and 65535, but is 65536 | podcache demo",
                "config validate | Missing required option: '--filename=FILE' | podcache config validate"
            })
    void wrongCommandLine_isAUsageErrorThatNamesIt(String line, String complaint, String command) {
        int code = execute(line);

        assertThat(code).isEqualTo(2);
        assertThat(console.out()).isEmpty();
        assertThat(console.err()).first().isEqualTo("error: " + complaint);
        assertThat(console.err()).last().isEqualTo("try: " + command + " --help");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "demo --for 1s | -- The same workload under each strategy",
                "plan --nodes 10 --profile fast | Requests per second at the API server",
                "refs -f deploy/examples/example-pod.yaml | shop/db  required  spec.containers[0].env[0]",
                "rbac --node worker-1 | kind: ClusterRole",
                "config print --max-pods 50 | maxPods",
                "config print --cluster-domain corp.example | corp.example",
                "config validate -f deploy/examples/kubelet-config.yaml | kubelet-config.yaml is valid",
                "completion | complete ",
                "version | podcache "
            })
    void withoutACluster_succeedsWithDataOnly(String line, String data, NoLeaks leaks) {
        // the demo cuts connections
        leaks.allowWarnings("; retrying");

        int code = execute(line);

        assertThat(code).isZero();
        assertThat(String.join("\n", console.out())).contains(data);
        assertThat(console.err()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "run, registered   Node n",
        "observe, no pods are assigned to this node",
        "hollow, 10 of 10 nodes Ready",
        "controllers, the controllers start"
    })
    void withACluster_saysWhatItDoes_andSucceedsWhenItIsStopped(String command, String data) throws Exception {
        try (Timekeeper time = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(time);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster)) {
            String line = ofCluster(command, kubeconfig(server.url()));
            CompletableFuture<Integer> code = CompletableFuture.supplyAsync(() -> execute(line), NewThread.EACH);
            await().until(() ->
                    code.isDone() || String.join("\n", console.out()).contains(data));

            console.stop();

            assertThat(code.get(Patience.SECONDS, TimeUnit.SECONDS)).isZero();
            assertThat(String.join("\n", console.out())).contains(data);
            assertThat(console.err()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("commandsOfACluster")
    void missingKubeconfig_failsInOneLineThatNamesIt(String command) throws IOException {
        int code = execute(ofCluster(command, Path.of("/nope/kubeconfig")));

        assertThat(code).isEqualTo(1);
        assertThat(console.out()).isEmpty();
        assertThat(console.err())
                .containsExactly(
                        "error: kubeconfig /nope/kubeconfig (from --kubeconfig) does not exist: give the path of an existing file");
    }

    @ParameterizedTest
    @MethodSource("commandsOfACluster")
    void serverIsDown_failsNamingItAndWhatToDo(String command) throws IOException {
        String server = "http://127.0.0.1:" + FreePorts.find(1).get(0);
        boolean doctor = command.equals("doctor");

        int code =
                execute(ofCluster(command, kubeconfig(server)) + (doctor || command.equals("dump") ? "" : " --for 1s"));

        assertThat(code).isEqualTo(doctor ? 3 : 1);
        List<String> said = doctor ? console.out() : console.err();
        assertThat(String.join("\n", said))
                .contains(server.substring("http://".length()))
                .containsPattern("check that|do: |try doctor");
        assertThat(doctor ? console.err() : console.out()).isEmpty();
    }

    private static String ofCluster(String command, Path kubeconfig) throws IOException {
        boolean ofNode = ImmutableList.of("run", "observe", "dump").contains(command);
        String ports = command.equals("run")
                ? " --healthz-port 0 --port " + FreePorts.find(1).get(0)
                : "";
        return command + " --kubeconfig " + kubeconfig + (ofNode ? " --node n" : "") + ports;
    }
}
