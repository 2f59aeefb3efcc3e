package dev.podcache.kubelet.process;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.time.Timekeeper;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A command that runs beside the command of a container, with a process group of its own. What it leaves behind when it ends
 * lives on until the container ends, see {@link ContainerProcesses}. Thread-safe.
 */
final class ExecProcess implements ContainerProcess {

    private static final Logger log = LoggerFactory.getLogger(ExecProcess.class);

    private final Process process;
    private final CompletableFuture<Process> ended;
    private final ExecOutput stdout;
    private final ExecOutput stderr;
    private final Optional<ProcessIdentity> leader;

    private ExecProcess(Process process, Timekeeper timekeeper) {
        this.process = process;
        this.ended = process.onExit();
        this.stdout = new ExecOutput(process.getInputStream(), process, ended, timekeeper);
        this.stderr = new ExecOutput(process.getErrorStream(), process, ended, timekeeper);
        this.leader = ProcessIdentity.of(process.pid());
    }

    /**
     * Starts a command with the environment of the container's command, and in its working directory.
     *
     * @param ended called once the command has ended
     * @throws IOException if the container does not run or the command cannot be started
     */
    static ExecProcess start(
            ContainerInstance container, List<String> command, Timekeeper timekeeper, Consumer<ExecProcess> ended)
            throws IOException {
        ProcessIdentity beside = container
                .command()
                .filter(ProcessIdentity::isAlive)
                .orElseThrow(() -> new IOException("container " + container.name() + " does not run"));
        List<String> arguments = new ArrayList<>(List.of("setsid"));
        arguments.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(arguments)
                .directory(new File(container.record().workingDirectory()));
        Map<String, String> environment = builder.environment();
        environment.clear();
        for (String variable : ContainerProcesses.environment(beside.pid())) {
            int equals = variable.indexOf('=');
            if (equals > 0) {
                environment.put(variable.substring(0, equals), variable.substring(equals + 1));
            }
        }
        // the container's command may have changed it
        environment.put(ContainerProcesses.VARIABLE, container.root().toString());
        ExecProcess started = new ExecProcess(builder.start(), timekeeper);
        started.ended.thenRun(() -> ended.accept(started));
        return started;
    }

    boolean hasEnded() {
        return !process.isAlive();
    }

    @Override
    public OutputStream stdin() {
        return process.getOutputStream();
    }

    @Override
    public InputStream stdout() {
        return stdout;
    }

    @Override
    public InputStream stderr() {
        return stderr;
    }

    @Override
    public int await() throws InterruptedException {
        return process.waitFor();
    }

    @Override
    public void close() {
        closeQuietly(this::killGroup);
        process.destroyForcibly();
        closeQuietly(stdin());
        closeQuietly(stdout());
        closeQuietly(stderr());
    }

    private void killGroup() throws IOException {
        if (leader.isPresent()) {
            leader.get().signalGroup("KILL");
        }
    }

    private static void closeQuietly(Closeable closed) {
        try {
            closed.close();
        } catch (IOException e) {
            log.debug("a command was not closed completely", e);
        }
    }
}
