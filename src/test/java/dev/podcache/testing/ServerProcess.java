package dev.podcache.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A server program of a test. Its command, ports and data stay the same at every start. Methods block until their
 * effect is complete. Thread-safe.
 *
 * <p>The program ends with this JVM, even if the JVM crashes: a shell waits for the end of a pipe from this process,
 * then kills the program and deletes its folder.
 */
public final class ServerProcess {

    private static final Duration STARTS_WITHIN = Duration.ofMinutes(4);
    private static final Duration STOPS_WITHIN = Duration.ofSeconds(5);
    private static final Duration POLL = Duration.ofMillis(50);
    private static final int TAIL_LINES = 25;

    private final String name;
    private final List<String> command;
    private final Path folder;
    private final Path log;
    private final BooleanSupplier ready;
    private @Nullable Process process; // guarded by this
    private @Nullable Process guard; // guarded by this

    ServerProcess(String name, List<String> command, Path folder, BooleanSupplier ready) {
        this.name = name;
        this.command = List.copyOf(command);
        this.folder = folder;
        this.log = folder.resolve(name + ".log");
        this.ready = ready;
    }

    /**
     * Starts the program and waits until it is ready. Does nothing if it is running.
     *
     * @throws IllegalStateException if the program exits, or is not ready within four minutes; the message has the end
     *     of its log
     */
    public synchronized void start() {
        if (isRunning()) {
            return;
        }
        Process started = launch();
        long giveUp = System.nanoTime() + STARTS_WITHIN.toNanos();
        while (!ready.getAsBoolean()) {
            if (ended(started, POLL)) {
                throw new IllegalStateException(name + " ended with code " + started.exitValue() + logTail());
            }
            if (System.nanoTime() > giveUp) {
                kill();
                throw new IllegalStateException(
                        name + " was not ready within " + STARTS_WITHIN.toSeconds() + " s" + logTail());
            }
        }
    }

    /** Terminates the program as an administrator would, and kills it after five seconds. */
    public synchronized void stop() {
        if (process != null) {
            process.destroy();
            ended(process, STOPS_WITHIN);
        }
        kill();
    }

    /** Kills the program, as a crash of its machine would. Connections of its clients break. */
    public synchronized void kill() {
        if (guard != null) {
            guard.destroyForcibly();
            ended(guard, STOPS_WITHIN);
        }
        if (process != null) {
            process.destroyForcibly();
            ended(process, STOPS_WITHIN);
        }
    }

    /**
     * Suspends the program (SIGSTOP). Its connections stay open, without notice to clients. Does nothing if the program
     * is not running.
     */
    public synchronized void pause() {
        signal("-STOP");
    }

    /** Resumes the program (SIGCONT). */
    public synchronized void resume() {
        signal("-CONT");
    }

    private void signal(String signal) {
        if (process != null && process.isAlive()) {
            try {
                ended(new ProcessBuilder("kill", signal, Long.toString(process.pid())).start(), STOPS_WITHIN);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Stops and starts the program, with the same ports and data. */
    public synchronized void restart() {
        stop();
        start();
    }

    /** Returns whether the program is running. */
    public synchronized boolean isRunning() {
        return process != null && process.isAlive();
    }

    /**
     * Returns the process ID.
     *
     * @throws IllegalStateException if the program was never started
     */
    public synchronized long pid() {
        if (process == null) {
            throw new IllegalStateException(name + " was never started");
        }
        return process.pid();
    }

    /** Returns the last lines of the log, each after a line break. */
    public String logTail() {
        try {
            List<String> lines = Files.readAllLines(log, StandardCharsets.ISO_8859_1);
            return "; the end of its log:\n"
                    + String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
        } catch (IOException e) {
            return "; its log is missing";
        }
    }

    private Process launch() {
        try {
            Process started = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .start();
            process = started;
            guard = new ProcessBuilder(
                            "sh",
                            "-c",
                            "cat >/dev/null; kill -KILL \"$0\"; rm -rf \"$1\"",
                            Long.toString(started.pid()),
                            folder.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return started;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean ended(Process process, Duration within) {
        try {
            return process.waitFor(within.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for a test server", e);
        }
    }
}
