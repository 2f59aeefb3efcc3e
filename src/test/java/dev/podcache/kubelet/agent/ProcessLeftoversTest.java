package dev.podcache.kubelet.agent;

import static dev.podcache.kubelet.agent.ProcessFixture.awaitEnd;
import static dev.podcache.kubelet.agent.ProcessFixture.isAlive;
import static dev.podcache.kubelet.agent.ProcessFixture.kill;
import static dev.podcache.kubelet.agent.ProcessFixture.reader;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Slow;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that commands leave behind: they live until the container ends, and no longer. */
@Slow
@EnabledOnOs(OS.LINUX)
class ProcessLeftoversTest extends OnProcesses {

    private static final Duration LONG = Duration.ofMinutes(5);

    /** Leaves a process of the same group, which holds no pipe, and says its PID. */
    private static final String LEAVE = "sleep 300 </dev/null >/dev/null 2>&1 & echo $!";

    /** Leaves a process of a session of its own. */
    private static final String LEAVE_SESSION = "setsid " + LEAVE;

    private static final String UNTIL_END = "while [ ! -e end ]; do sleep 0.05; done; exit 4";

    private ContainerProcess exec(String script) throws IOException {
        return fixture.runtime.exec(fixture.key, "main", List.of("sh", "-c", script), false);
    }

    /** Runs a script beside the container and returns the PID that it says. */
    private long leave(String script) throws IOException, InterruptedException {
        try (ContainerProcess process = exec(script)) {
            long left = Long.parseLong(reader(process.stdout()).readLine());
            process.await();
            return left;
        }
    }

    private void endContainer() throws IOException {
        Files.createFile(fixture.instance(0).resolve("root/end"));
    }

    private static String text(InputStream stream) {
        try {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void exec_childHoldsTheOutput_outputEndsWithTheCommand() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");

        try (ContainerProcess process = exec("sleep 300 & echo $!; sleep 0.5; echo error >&2; exit 3")) {
            CompletableFuture<String> output =
                    CompletableFuture.supplyAsync(() -> text(process.stdout()), NewThread.EACH);
            CompletableFuture<String> errors =
                    CompletableFuture.supplyAsync(() -> text(process.stderr()), NewThread.EACH);

            assertThat(process.await()).isEqualTo(3);
            assertThat(errors)
                    .succeedsWithin(Duration.ofSeconds(Patience.SECONDS))
                    .isEqualTo("error\n");
            assertThat(output).succeedsWithin(Duration.ofSeconds(Patience.SECONDS));
            assertThat(isAlive(Long.parseLong(output.join().trim()))).isTrue();
        }
    }

    @Test
    void exec_closedWhileAChildHoldsTheOutput_readerEnds() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        // the child says its PID only once it is out of the command's group, which the close kills
        ContainerProcess process = exec("setsid sh -c 'echo $$; exec sleep 300' & sleep 300");
        BufferedReader output = reader(process.stdout());
        long child = Long.parseLong(output.readLine());
        CompletableFuture<Object> rest =
                CompletableFuture.supplyAsync(() -> output.lines().toList(), NewThread.EACH);

        process.close();

        Patience.await().until(rest::isDone);
        assertThat(isAlive(child)).isTrue();
    }

    @Test
    void exec_largeOutputWhoseReaderIsLate_isComplete() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");

        try (ContainerProcess process = exec("head -c 60000 /dev/zero; sleep 300 & exit 0")) {
            process.await();

            assertThat(process.stdout().readAllBytes()).hasSize(60_000);
        }
    }

    /** Nobody reads it, so a write to it waits for as long as that process lives. */
    @Test
    void containerEnds_inputOfACommandIsHeldByWhatItLeft_thatIsKilledAndTheEndIsTold()
            throws IOException, InterruptedException {
        fixture.run(UNTIL_END);
        try (ContainerProcess process =
                exec("exec 3<&0; setsid sh -c 'echo $$; exec sleep 300' <&3 & wait; sleep 300")) {
            long holder = Long.parseLong(reader(process.stdout()).readLine());
            AtomicLong written = new AtomicLong();
            CompletableFuture<Void> writer = CompletableFuture.runAsync(
                    () -> {
                        try (OutputStream in = process.stdin()) {
                            for (byte[] piece = new byte[4096]; ; written.addAndGet(piece.length)) {
                                in.write(piece);
                            }
                        } catch (IOException closed) {
                            throw new UncheckedIOException(closed);
                        }
                    },
                    NewThread.EACH);
            // more than a pipe holds
            Patience.await().until(() -> written.get() >= 64 << 10);

            endContainer();

            fixture.awaitChange();
            awaitEnd(holder);
            Patience.await().until(writer::isDone);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {LEAVE, LEAVE_SESSION})
    void containerIsStopped_whatACommandLeftIsKilled(String script) throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        long left = leave(script);
        assertThat(isAlive(left)).isTrue();

        fixture.stop(LONG);

        awaitEnd(left);
    }

    @ParameterizedTest
    @ValueSource(strings = {LEAVE, LEAVE_SESSION})
    void containerEnds_whatACommandLeftIsKilled(String script) throws IOException, InterruptedException {
        fixture.run(UNTIL_END);
        long left = leave(script);

        endContainer();

        awaitEnd(left);
    }

    @Test
    void containerEnds_whatItsCommandLeftIsKilled() throws IOException, InterruptedException {
        fixture.runToEnd("setsid sh -c 'echo $$ >pid; exec sleep 300 >/dev/null 2>&1' &"
                + " while [ ! -s pid ]; do sleep 0.05; done; cat pid");

        awaitEnd(Long.parseLong(fixture.logs().trim()));
    }

    @ParameterizedTest
    @ValueSource(strings = {LEAVE, LEAVE_SESSION, "echo $$; exec sleep 300"})
    void agentIsKilledAndContainerIsStoppedByTheNext_commandIsKilled(String script)
            throws IOException, InterruptedException {
        long left = Long.parseLong(KilledAgent.run(fixture.directory, "exec sleep 300", script));
        fixture.restarted();
        assertThat(isAlive(left)).as("the container runs").isTrue();

        fixture.stop(LONG);

        awaitEnd(left);
    }

    @Test
    void agentIsKilledAndContainerEnds_commandIsKilledByTheNextAgent() throws IOException, InterruptedException {
        long left = Long.parseLong(KilledAgent.run(fixture.directory, UNTIL_END, LEAVE));
        long supervisor = fixture.pid("supervisor");
        endContainer();
        awaitEnd(supervisor);

        fixture.restarted();

        awaitEnd(left);
        assertThat(fixture.end().getExitCode()).isEqualTo(4);
    }

    @Test
    void agentIsKilledAndContainerIsUnknown_commandIsKilledByTheNextAgent() throws IOException, InterruptedException {
        long left = Long.parseLong(KilledAgent.run(fixture.directory, "exec sleep 300", LEAVE));
        Files.delete(fixture.instance(0).resolve("container.json"));

        fixture.restarted();

        awaitEnd(left);
    }

    @Test
    void agentIsKilledAndContainerEnds_forgettingThePodKillsWhatWasLeft() throws IOException, InterruptedException {
        long left = Long.parseLong(KilledAgent.run(fixture.directory, UNTIL_END, LEAVE));
        endContainer();
        awaitEnd(fixture.pid("supervisor"));

        fixture.runtime.forget(fixture.key);

        awaitEnd(left);
    }

    @Test
    void containerIsStopped_othersLive() throws IOException, InterruptedException {
        fixture.run("exec sleep 300");
        fixture.runtime.startContainer(
                fixture.pod, ProcessFixture.container("side"), ProcessFixture.launch(Map.of(), "sleep", "300"));
        Process stranger = process(directory.resolve("runtime2/pods/uid-1/containers/main/0/root"));
        try {
            fixture.stop(LONG);
            fixture.restarted();

            assertThat(stranger.isAlive()).isTrue();
            assertThat(fixture.runtime.usage().get(0).containers())
                    .extracting(ContainerUsage::name)
                    .containsExactly("side");
        } finally {
            stranger.destroyForcibly().waitFor();
        }
    }

    /** Starts a process that the container with this root could have started. */
    private static Process process(Path root) throws IOException {
        ProcessBuilder builder = new ProcessBuilder("sleep", "300").redirectInput(new File("/dev/null"));
        builder.environment().put("PODCACHE_ROOT", root.toString());
        return builder.start();
    }

    @Test
    void supervisorIsKilledAndContainerEnds_itsLastOutputIsKept() throws IOException, InterruptedException {
        fixture.runUntilReady("echo ready; while [ ! -e end ]; do sleep 0.05; done; seq 3000; echo bye");
        long supervisor = fixture.pid("supervisor");
        kill("KILL", supervisor);
        awaitEnd(supervisor);

        endContainer();
        fixture.awaitChange();

        Patience.await().until(() -> fixture.logs().endsWith("3000\nbye\n"));
    }
}
