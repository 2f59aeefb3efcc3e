package dev.podcache.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program as a process of its own: signals, exit codes and the environment are the real ones. */
@Timeout(90)
class AgentProcessTest {

    private static final int TERMINATED = 128 + 15;

    @TempDir
    private Path directory;

    private @Nullable Process process;

    @AfterEach
    void kill() {
        if (process != null) {
            process.destroyForcibly();
        }
    }

    @Test
    void demo_toldToTerminate_saysItsLastWordsAndDies() throws Exception {
        Process demo = start(Map.of(), "demo");
        await().atMost(45, TimeUnit.SECONDS).until(() -> out().contains("registered"));

        demo.destroy();

        assertThat(demo.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(demo.exitValue()).isEqualTo(TERMINATED);
        assertThat(out()).contains("-- Summary", "-- The same workload under each strategy");
        assertThat(err()).isEmpty();
    }

    @Test
    void version_ends_withExitCodeZero() throws Exception {
        Process version = start(Map.of(), "version");

        assertThat(version.waitFor(45, TimeUnit.SECONDS)).isTrue();
        assertThat(version.exitValue()).isZero();
        assertThat(out()).startsWith("podcache ");
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

        Process run = start(pod, "run");

        assertThat(run.waitFor(45, TimeUnit.SECONDS)).isTrue();
        assertThat(run.exitValue()).isEqualTo(1);
        assertThat(err()).contains("error: API server https://127.0.0.1:1").doesNotContain("127.0.0.1:2");
    }

    private Process start(Map<String, String> environment, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                "-Duser.home=" + directory,
                NodeAgentMain.class.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(directory.resolve("out").toFile())
                .redirectError(directory.resolve("err").toFile());
        builder.environment().remove("KUBECONFIG");
        builder.environment().put("HOME", directory.toString());
        builder.environment().putAll(environment);
        Process started = builder.start();
        process = started;
        return started;
    }

    private String out() throws IOException {
        return Files.readString(directory.resolve("out"));
    }

    private String err() throws IOException {
        return Files.readString(directory.resolve("err"));
    }
}
