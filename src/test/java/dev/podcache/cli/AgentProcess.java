package dev.podcache.cli;

import dev.podcache.testing.ForkedJava;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The program as a process of its own, whose output is kept in files. It dies with {@link #close} at the latest. */
final class AgentProcess implements AutoCloseable {

    private static final int WARNS_OF_NATIVE_ACCESS = 24;

    private final Process process;
    private final Path directory;

    private AgentProcess(Process process, Path directory) {
        this.process = process;
        this.directory = directory;
    }

    /**
     * Starts it, without a kubeconfig of whoever runs the tests.
     *
     * @param directory its home, and where its output is
     * @param jvm options of its JVM
     * @param environment in addition to ours
     */
    static AgentProcess start(Path directory, List<String> jvm, Map<String, String> environment, String... arguments) {
        List<String> options = new ArrayList<>(List.of("-Duser.home=" + directory));
        options.addAll(nativeAccess());
        options.addAll(jvm);
        ProcessBuilder builder = ForkedJava.program(options, Main.class, List.of(arguments))
                .redirectOutput(directory.resolve("out").toFile())
                .redirectError(directory.resolve("err").toFile());
        builder.environment().remove("KUBECONFIG");
        builder.environment().put("HOME", directory.toString());
        builder.environment().putAll(environment);
        try {
            return new AgentProcess(builder.start(), directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The options that docs/getting-started.md gives for a JDK which warns of native access; older ones refuse the first. */
    private static List<String> nativeAccess() {
        return Runtime.version().feature() < WARNS_OF_NATIVE_ACCESS
                ? List.of()
                : List.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED");
    }

    Process process() {
        return process;
    }

    String out() {
        return read("out");
    }

    String err() {
        return read("err");
    }

    /** Kills it as {@code kill -9} does, and waits until it is dead. Idempotent. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("process " + process.pid() + " survives being killed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String read(String file) {
        try {
            return Files.readString(directory.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
