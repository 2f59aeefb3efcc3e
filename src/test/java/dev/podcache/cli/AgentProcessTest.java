package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.google.common.base.Splitter;
import dev.podcache.testing.ForkedJava;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Slow;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The program as a process of its own: signals, exit codes and the environment are the real ones. */
@Slow
class AgentProcessTest {

    /** Of {@code /proc/PID/status}: signal 2 is the second bit from the right. */
    private static final String IGNORES_INT = "(?s).*\\nSigIgn:\\t[0-9a-f]*[2367abef]\\n.*";

    @TempDir
    private Path directory;

    private @Nullable AgentProcess agent;

    @AfterEach
    void kill() {
        if (agent != null) {
            agent.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    void demo_toldToEnd_printsItsSummaryAndSucceeds(String signal) throws Exception {
        AgentProcess demo = start(Map.of(), "demo");
        await().until(() -> demo.out().contains("registered"));

        send(signal, demo);

        assertThat(demo.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(demo.process().exitValue()).isZero();
        assertThat(demo.out()).contains("-- Summary", "-- The same workload under each strategy");
        assertThat(demo.err()).isEmpty();
    }

    /** The exit code of a shell for a signal: a kubelet, systemd and scripts know it. */
    @ParameterizedTest
    @CsvSource({"TERM, 143", "INT, 130"})
    void run_toldToEndWhileItReadsItsConfiguration_diesAtOnce(String signal, int exitCode) throws Exception {
        Path file = directory.resolve("kubelet.yaml");
        assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor())
                .isZero();
        AgentProcess run = start(Map.of(), "run", "--hostname-override", "worker-1", "--config", file.toString());

        // opens once the program reads the other end
        CompletableFuture<OutputStream> opened = CompletableFuture.supplyAsync(() -> output(file), NewThread.EACH);
        try (OutputStream pipe = opened.get(60, TimeUnit.SECONDS)) {
            pipe.flush();
            send(signal, run);

            assertThat(run.process().waitFor(4, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(run.process().exitValue()).isEqualTo(exitCode);
        assertThat(run.err()).isEmpty();
    }

    private static void send(String signal, AgentProcess agent) throws Exception {
        long pid = agent.process().pid();
        Path status = Path.of("/proc/" + pid + "/status");
        assumeFalse(
                signal.equals("INT")
                        && Files.exists(status)
                        && Files.readString(status).matches(IGNORES_INT),
                "these tests were started with SIGINT ignored, as nohup and a shell's & do, which a JVM inherits");
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(pid))
                        .start()
                        .waitFor())
                .isZero();
    }

    private static OutputStream output(Path file) {
        try {
            return Files.newOutputStream(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void version_ends_withExitCodeZero() throws Exception {
        AgentProcess version = start(Map.of(), "version");

        assertThat(version.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(version.process().exitValue()).isZero();
        assertThat(version.out()).startsWith("podcache ");
    }

    @Test
    void run_insideAPod_prefersThePodsServerToAKubeconfigInTheHomeDirectory() throws Exception {
        Files.createDirectory(directory.resolve(".kube"));
        Files.writeString(directory.resolve(".kube/config"), """
                apiVersion: v1
                kind: Config
                current-context: x
                contexts:
                - name: x
                  context: {cluster: c, user: u}
                clusters:
                - name: c
                  cluster: {server: 'http://127.0.0.1:2'}
                """);
        Map<String, String> pod =
                Map.of("KUBERNETES_SERVICE_HOST", "127.0.0.1", "KUBERNETES_SERVICE_PORT", "1", "NODE_NAME", "worker-1");

        AgentProcess run = start(pod, "run", "--for", "3s");

        assertThat(run.process().waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(run.process().exitValue()).isEqualTo(1);
        assertThat(run.err()).contains("error: API server https://127.0.0.1:1").doesNotContain("127.0.0.1:2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"config print", "demo --for 1m", "completion", "refs -f deploy/examples/example-pod.yaml"})
    void command_whoseReaderLeaves_endsWithoutAnError(String command) throws Exception {
        Path err = directory.resolve("err");
        Process program = program(command).redirectError(err.toFile()).start();
        try {
            program.getInputStream().close();

            assertThat(program.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(program.exitValue()).isEqualTo(141);
            // a newer JVM warns of what Netty uses
            assertThat(Files.readAllLines(err)).allMatch(line -> line.startsWith("WARNING: "));
        } finally {
            program.destroyForcibly();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void command_whoseDiskIsFull_fails() throws Exception {
        Path err = directory.resolve("err");
        Process program = program("refs -f deploy/examples/example-pod.yaml -o json")
                .redirectOutput(new File("/dev/full"))
                .redirectError(err.toFile())
                .start();
        try {
            assertThat(program.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(program.exitValue()).isEqualTo(1);
            assertThat(Files.readString(err)).contains("its disk is full");
        } finally {
            program.destroyForcibly();
        }
    }

    private ProcessBuilder program(String command) {
        return ForkedJava.program(
                List.of("-Duser.home=" + directory),
                Main.class,
                Splitter.on(' ').splitToList(command));
    }

    private AgentProcess start(Map<String, String> environment, String... arguments) {
        AgentProcess started = AgentProcess.start(directory, List.of(), environment, arguments);
        agent = started;
        return started;
    }
}
