package dev.podcache.kubelet.process;

import com.google.common.base.CharMatcher;
import com.google.common.collect.Iterables;
import com.google.common.collect.Lists;
import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.time.Timekeeper;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.LinkedHashMap;
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

    /** How often it is looked whether a container's command has begun, and the time between. */
    private static final int MOST_LOOKS = 500;

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(10);

    private static final Logger log = LoggerFactory.getLogger(ExecProcess.class);

    private static final String READ_AND_EXECUTE = "IFS= read -r script && eval \"$(printf \"$script\")\"";

    private final Process process;
    private final CompletableFuture<Process> ended;
    private final ExecInput stdin;
    private final ExecOutput stdout;
    private final ExecOutput stderr;
    private final Optional<ProcessIdentity> leader;

    private ExecProcess(Process process, Timekeeper timekeeper) {
        this.process = process;
        this.ended = process.onExit();
        this.stdin = new ExecInput(process.getOutputStream());
        this.stdout = new ExecOutput(process.getInputStream(), process, ended, timekeeper);
        this.stderr = new ExecOutput(process.getErrorStream(), process, ended, timekeeper);
        this.leader = ProcessIdentity.of(process.pid());
    }

    /**
     * Starts a command with the environment that the container's command was started with, and in its working directory.
     *
     * @param unknown called if that environment is not known any more: then the command has a PATH only
     * @param ended called once the command has ended
     * @throws IOException if the container does not run, or the command cannot be started
     */
    static ExecProcess start(
            ContainerInstance container,
            List<String> command,
            Timekeeper timekeeper,
            Runnable unknown,
            Consumer<ExecProcess> ended)
            throws IOException {
        ProcessIdentity beside = container
                .command()
                .filter(ProcessIdentity::isAlive)
                .orElseThrow(() -> new IOException("container " + container.name() + " does not run"));
        Map<String, String> environment = container.environment().isEmpty()
                ? environmentOf(container, beside, timekeeper, unknown)
                : container.environment();
        File directory = new File(container.record().workingDirectory());
        Process process = isPlain(environment, command)
                ? start(Lists.asList("setsid", command.toArray(String[]::new)), environment, directory)
                : startByScript(environment, command, directory);
        ExecProcess started = new ExecProcess(process, timekeeper);
        started.ended.thenRun(() -> ended.accept(started));
        return started;
    }

    /**
     * Returns the environment of a container that another process started: that of its command, which may have written a
     * title over it, as nginx and PostgreSQL do.
     */
    private static Map<String, String> environmentOf(
            ContainerInstance container, ProcessIdentity command, Timekeeper timekeeper, Runnable unknown)
            throws IOException {
        Map<String, String> environment = new LinkedHashMap<>();
        for (String variable : variablesOf(command, timekeeper)) {
            int equals = variable.indexOf('=');
            if (equals > 0) {
                environment.put(variable.substring(0, equals), variable.substring(equals + 1));
            }
        }
        if (!command.isAlive()) {
            throw new IOException("container " + container.name() + " does not run");
        }
        if (!environment.containsKey(ContainerProcesses.VARIABLE)) {
            // what is left may be a part of a title
            environment.clear();
            environment.put("PATH", ContainerStarter.DEFAULT_PATH);
            unknown.run();
        }
        // the container's command may have changed it
        environment.put(ContainerProcesses.VARIABLE, container.root().toString());
        return environment;
    }

    /** Returns the variables of a container's command; waits until the shell that was started for it has become it. */
    private static Iterable<String> variablesOf(ProcessIdentity command, Timekeeper timekeeper) throws IOException {
        for (int look = 0; look < MOST_LOOKS; look++) {
            Iterable<String> environment = ContainerProcesses.environment(command.pid());
            if (!Iterables.contains(environment, ContainerProcesses.LAUNCHING + "=1")) {
                return environment;
            }
            try {
                boolean unused = timekeeper.await(new CompletableFuture<>(), BETWEEN_LOOKS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while the container's command was being started");
            }
        }
        throw new IOException("the container's command has not begun; try again");
    }

    /** Returns whether the JVM takes variables and words, and passes them on as they are, whatever its locale is. */
    private static boolean isPlain(Map<String, String> environment, List<String> command) {
        CharMatcher ascii = CharMatcher.ascii();
        return command.stream().allMatch(ascii::matchesAllOf)
                && environment.keySet().stream().allMatch(name -> ascii.matchesAllOf(name) && name.indexOf('=') < 0)
                && environment.values().stream().allMatch(ascii::matchesAllOf);
    }

    private static Process start(List<String> command, Map<String, String> environment, File directory)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory);
        builder.environment().clear();
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** A shell reads the script from the first line of the standard input, byte by byte; the rest is the command's. */
    private static Process startByScript(Map<String, String> environment, List<String> command, File directory)
            throws IOException {
        if (command.stream().anyMatch(word -> word.indexOf('\0') >= 0)) {
            throw new IOException("the command contains a zero byte, which no process can receive");
        }
        Map<String, String> ofShell = new LinkedHashMap<>();
        for (String name : List.of("PATH", ContainerProcesses.VARIABLE)) {
            String value = environment.get(name);
            if (value != null && CharMatcher.ascii().matchesAllOf(value)) {
                ofShell.put(name, value);
            }
        }
        Process process = start(List.of("setsid", "sh", "-c", READ_AND_EXECUTE), ofShell, directory);
        try {
            OutputStream in = process.getOutputStream();
            in.write(LaunchScript.line(LaunchScript.of("", environment, command)));
            in.flush();
            return process;
        } catch (IOException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    boolean hasEnded() {
        return !process.isAlive();
    }

    @Override
    public OutputStream stdin() {
        return stdin;
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
