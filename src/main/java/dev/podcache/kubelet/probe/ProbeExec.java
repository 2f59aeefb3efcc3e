package dev.podcache.kubelet.probe;

import dev.podcache.object.PodKey;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Runs the commands of exec probes. Implementations must be thread-safe. */
@FunctionalInterface
public interface ProbeExec {

    /**
     * Runs a command in a running container. Must not block.
     *
     * <p>After the timeout the probe has failed and the returned future is cancelled; the command should be killed
     * then.
     *
     * @param command the program and its arguments
     * @param timeout the time that the command has
     * @return completes when the command has ended; exceptionally if it could not be run, which is an error and not a
     *     failure of the probe
     */
    CompletableFuture<CommandResult> exec(PodKey pod, String container, List<String> command, Duration timeout);

    /**
     * The end of a command. Immutable.
     *
     * @param exitCode 0 if the probe succeeded
     * @param output standard output and standard error; at most 10 KiB of it are used
     */
    record CommandResult(int exitCode, String output) {}
}
