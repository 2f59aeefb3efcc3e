package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.kubelet.probe.ProbeExec.CommandResult;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.object.PodKey;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.time.TaskThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class RuntimeExecTest {

    private static final PodKey POD = PodKey.of("shop", "web", "u1");

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final TaskThreads threads = TaskThreads.on(NewThread.EACH, 1, time);
    private final FlakyRuntime runtime = new FlakyRuntime(new HollowRuntime(time));
    private final RuntimeExec exec = new RuntimeExec(runtime, threads);

    private CompletableFuture<CommandResult> run() {
        return exec.exec(POD, "main", List.of("cat", "/healthy"), Duration.ofSeconds(1));
    }

    @Test
    void commandEnds_resultHasBothOutputsAndTheExitCode_andTheProcessIsClosed() throws Exception {
        FakeProcess process = new FakeProcess("out", "err", 3);
        runtime.commands = command -> process;

        assertThat(run().get()).isEqualTo(new CommandResult(3, "outerr"));
        process.closed.await();
        assertThat(runtime.calls).containsExactly("exec web/main cat /healthy");
    }

    @Test
    void muchOutput_isReadToItsEndButKeptTo10KiB() throws Exception {
        FakeProcess process = new FakeProcess("x".repeat(1_000_000), "y".repeat(1_000_000), 0);
        runtime.commands = command -> process;

        assertThat(run().get().output()).hasSize(10 << 10);
        assertThat(process.stdout().available()).isZero();
        assertThat(process.stderr().available()).isZero();
    }

    @Test
    void cancelled_commandIsClosed() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        FakeProcess process = FakeProcess.until(new CountDownLatch(1));
        runtime.commands = command -> {
            started.countDown();
            return process;
        };
        CompletableFuture<CommandResult> result = run();
        started.await();

        result.cancel(false);

        assertThat(process.closed.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void cancelled_whileTheRuntimeStartsTheCommand_commandIsClosed() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        FakeProcess process = new FakeProcess("", 0);
        runtime.commands = command -> {
            asked.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException expected) {
                // a runtime may go on in spite of an interrupt
            }
            return process;
        };
        CompletableFuture<CommandResult> result = run();
        asked.await();

        result.cancel(false);

        assertThat(process.closed.await(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void runtimeThrows_resultFails() {
        runtime.commands = command -> {
            throw new NoClassDefFoundError("io/user/Exec");
        };

        assertThatThrownBy(() -> run().get()).hasCauseInstanceOf(NoClassDefFoundError.class);
    }

    @Test
    void runtimeCannotRunCommands_saysSo() {
        RuntimeExec none = new RuntimeExec(new HollowRuntime(time), threads);

        assertThatThrownBy(() ->
                        none.exec(POD, "main", List.of("true"), Duration.ZERO).get())
                .hasRootCauseMessage("runtime hollow cannot run commands in containers");
    }

    @Test
    void threadsAreClosed_resultIsCancelled() {
        threads.close();

        assertThat(run()).isCancelled();
    }
}
