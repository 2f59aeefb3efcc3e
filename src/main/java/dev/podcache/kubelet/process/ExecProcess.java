package dev.podcache.kubelet.process;

import com.google.common.base.Splitter;
import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A command that runs beside the command of a container, with a process group of its own. Thread-safe. */
final class ExecProcess implements ContainerProcess {

    private static final Logger log = LoggerFactory.getLogger(ExecProcess.class);
    private static final Splitter ZERO_BYTES = Splitter.on('\0').omitEmptyStrings();

    private final Process process;
    private final Optional<ProcessIdentity> leader;

    private ExecProcess(Process process) {
        this.process = process;
        this.leader = ProcessIdentity.of(process.pid());
    }

    /**
     * Starts a command.
     *
     * @param container the PID of the container's command, whose environment the command gets
     * @param ended called once the command has ended
     */
    static ExecProcess start(long container, String workingDirectory, List<String> command, Consumer<ExecProcess> ended)
            throws IOException {
        List<String> arguments = new ArrayList<>(List.of("setsid"));
        arguments.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(arguments).directory(new File(workingDirectory));
        Map<String, String> environment = builder.environment();
        environment.clear();
        byte[] variables = Files.readAllBytes(Path.of("/proc", Long.toString(container), "environ"));
        for (String variable : ZERO_BYTES.split(new String(variables, Charset.defaultCharset()))) {
            int equals = variable.indexOf('=');
            if (equals > 0) {
                environment.put(variable.substring(0, equals), variable.substring(equals + 1));
            }
        }
        ExecProcess started = new ExecProcess(builder.start());
        started.process.onExit().thenRun(() -> ended.accept(started));
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
        return process.getInputStream();
    }

    @Override
    public InputStream stderr() {
        return process.getErrorStream();
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
