package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.probe.ProbeExec;
import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.object.PodKey;
import dev.podcache.time.TaskThreads;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** Runs the commands of exec probes and lifecycle hooks in the containers of a runtime. Thread-safe. */
final class RuntimeExec implements ProbeExec {

    /*
     * The caller's thread only starts threads, because every call of the runtime may block. A command has two threads,
     * one for each of its streams: a command whose output is not read stops. When the result is cancelled, a third
     * thread closes the process, because that may block, too.
     */

    private static final int LONGEST_OUTPUT = 10 << 10;

    private final PodRuntime runtime;
    private final TaskThreads threads;

    RuntimeExec(PodRuntime runtime, TaskThreads threads) {
        this.runtime = runtime;
        this.threads = threads;
    }

    /** Implements {@link ProbeExec#exec}. The timeout has no effect: canceling the result kills the command. */
    @Override
    public CompletableFuture<CommandResult> exec(PodKey pod, String container, List<String> command, Duration timeout) {
        if (!(runtime instanceof ContainerExec commands)) {
            return CompletableFuture.failedFuture(new UnsupportedOperationException(
                    "runtime " + runtime.type() + " cannot run commands in containers"));
        }
        CompletableFuture<CommandResult> result = new CompletableFuture<>();
        Future<CommandResult> task = threads.submit(() -> {
            try (ContainerProcess process = commands.exec(pod, container, command, false)) {
                result.whenComplete((ended, failure) -> {
                    if (result.isCancelled()) {
                        closeApart(process);
                    }
                });
                CommandResult ended = run(process);
                result.complete(ended);
                return ended;
            } catch (Throwable failure) {
                result.completeExceptionally(failure);
                throw failure;
            }
        });
        result.whenComplete((ended, failure) -> {
            if (result.isCancelled()) {
                task.cancel(true);
            }
        });
        if (task.isCancelled()) {
            result.cancel(false);
        }
        return result;
    }

    private void closeApart(ContainerProcess process) {
        threads.submit(() -> {
            process.close();
            return process;
        });
    }

    private CommandResult run(ContainerProcess process) throws IOException, InterruptedException, ExecutionException {
        process.stdin().close();
        Future<String> errors = threads.submit(() -> beginning(process.stderr()));
        String output = beginning(process.stdout()) + errors.get();
        String cut = output.length() > LONGEST_OUTPUT ? output.substring(0, LONGEST_OUTPUT) : output;
        return new CommandResult(process.await(), cut);
    }

    /** Reads a stream to its end and returns its beginning. */
    private static String beginning(InputStream stream) throws IOException {
        byte[] kept = stream.readNBytes(LONGEST_OUTPUT);
        stream.transferTo(OutputStream.nullOutputStream());
        return new String(kept, StandardCharsets.UTF_8);
    }
}
