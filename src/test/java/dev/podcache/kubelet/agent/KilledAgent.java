package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.testing.ForkedJava;
import dev.podcache.time.Timekeeper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Another agent, in a process of its own, which is killed while its container runs. */
final class KilledAgent {

    private KilledAgent() {}

    /**
     * Starts an agent, which starts a container and then a command beside it, and kills the agent. Returns the first line
     * of the command's output.
     */
    static String run(Path directory, String container, String command) throws IOException, InterruptedException {
        Process agent = ForkedJava.program(
                        List.of(), KilledAgent.class, List.of(directory.toString(), container, command))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = agent.inputReader()) {
            String line = output.readLine();
            assertThat(line).as("the output of the command").isNotNull();
            return line;
        } finally {
            agent.destroyForcibly().waitFor();
        }
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (ProcessFixture fixture = new ProcessFixture(Path.of(arguments[0]));
                Timekeeper timekeeper = Timekeeper.system()) {
            fixture.run(arguments[1]);
            ContainerProcess command =
                    fixture.runtime.exec(fixture.key, "main", List.of("sh", "-c", arguments[2]), false);
            System.out.println(ProcessFixture.reader(command.stdout()).readLine());
            timekeeper.await(new CompletableFuture<>(), Duration.ofMinutes(5));
        }
    }
}
