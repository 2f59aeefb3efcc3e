package dev.podcache.cli;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Patience;
import dev.podcache.testing.RealApiServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A node whose agent is a process of its own and runs containers as processes, with an endpoint that the API server may
 * use. For one test.
 */
final class ProcessNode implements AutoCloseable {

    private static final String CONFIGURATION = """
            apiVersion: kubelet.config.k8s.io/v1beta1
            kind: KubeletConfiguration
            nodeStatusUpdateFrequency: 1s
            nodeStatusReportFrequency: 5m
            """;

    final RealNode node;
    private final Path home;
    private @Nullable AgentProcess agent;

    ProcessNode(RealApiServer server, Path home) {
        this.home = home;
        this.node = new RealNode(server, "processes");
        try {
            Files.writeString(home.resolve("kubelet.yaml"), CONFIGURATION);
            Files.copy(node.kubeconfig(), home.resolve("kubeconfig.yaml"));
            Files.write(
                    home.resolve("ca.crt"),
                    Base64.getDecoder().decode(server.config().getCaCertData()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void startAgent() {
        agent = AgentProcess.start(
                home,
                List.of(),
                Map.of(),
                "run",
                "--hostname-override",
                node.name,
                "--kubeconfig",
                file("kubeconfig.yaml"),
                "--config",
                file("kubelet.yaml"),
                "--client-ca-file",
                file("ca.crt"),
                "--processes",
                file("runtime"));
    }

    /** Kills the agent as {@code kill -9} does. Its containers go on. */
    void killAgent() {
        if (agent != null) {
            agent.close();
            agent = null;
        }
    }

    /** Tells the agent to end, as an upgrade does, and returns its exit code. Its containers go on. */
    int stopAgent() throws InterruptedException {
        AgentProcess running = Objects.requireNonNull(agent);
        running.process().destroy();
        assertThat(running.process().waitFor(Patience.SECONDS, TimeUnit.SECONDS))
                .isTrue();
        agent = null;
        return running.process().exitValue();
    }

    /** Returns what the agent has written to its error output. Fails if it has ended by itself. */
    String agentErrors() {
        AgentProcess running = Objects.requireNonNull(agent);
        assertThat(running.process().isAlive()).as(running.err()).isTrue();
        return running.err();
    }

    String agentOutput() {
        return Objects.requireNonNull(agent).out();
    }

    /** Returns the directories of all pods that the runtime keeps. */
    List<Path> podDirectories() {
        try (Stream<Path> pods = Files.list(home.resolve("runtime/pods"))) {
            return pods.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the processes, other than the agent, whose command line has the directory of this test. */
    List<ProcessHandle> processes() {
        return ProcessHandle.allProcesses()
                .filter(process ->
                        agent == null || process.pid() != agent.process().pid())
                .filter(process -> commandLine(process).contains(home.toString()))
                .toList();
    }

    List<ProcessHandle> processesWith(String text) {
        return processes().stream()
                .filter(process -> commandLine(process).contains(text))
                .toList();
    }

    private static String commandLine(ProcessHandle process) {
        return process.info().commandLine().orElse("");
    }

    private String file(String name) {
        return home.resolve(name).toString();
    }

    /** Kills the agent and all containers. */
    @Override
    public void close() {
        killAgent();
        await().until(() -> {
            List<ProcessHandle> left = processes();
            left.forEach(ProcessHandle::destroyForcibly);
            return left.isEmpty();
        });
        node.close();
    }
}
