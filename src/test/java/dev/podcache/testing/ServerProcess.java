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
 * One server program of a test: the same command, ports and data at every start. All calls block until what
 * they ask for is so. Thread-safe.
 *
 * <p>The program dies with this JVM, however the JVM dies: beside it runs a shell that waits for the end of a pipe from
 * this process, then kills the program and deletes the folder that holds all it wrote.
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
     * Starts the program and waits until it is ready. No effect if it runs.
     *
     * @throws IllegalStateException if it ends, or is not ready within four minutes; the
     *     message carries the tail of its log
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

    /** Asks the program to end, as an administrator would, and after five seconds kills it. */
    public synchronized void stop() {
        if (process != null) {
            process.destroy();
            ended(process, STOPS_WITHIN);
        }
        kill();
    }

    /** Kills the program, as a crash of its machine would. Its clients see their connections break. */
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

    /** Stops the program where it is (SIGSTOP); its connections stay, and nobody is told. Nothing if it does not run. */
    public synchronized void pause() {
        signal("-STOP");
    }

    /** Lets it go on (SIGCONT). */
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

    /** {@link #stop()}, then {@link #start()}: same ports, same data. */
    public synchronized void restart() {
        stop();
        start();
    }

    public synchronized boolean isRunning() {
        return process != null && process.isAlive();
    }

    /** The last lines of the program's log, each after a line break. */
    public String logTail() {
        try {
            List<String> lines = Files.readAllLines(log, StandardCharsets.ISO_8859_1);
            return "; its log ends:\n"
                    + String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
        } catch (IOException e) {
            return "; it left no log";
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
