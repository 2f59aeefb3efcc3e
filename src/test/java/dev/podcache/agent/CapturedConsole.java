package dev.podcache.agent;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Runs the program in this process and keeps what it prints. */
final class CapturedConsole {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Map<String, String> environment = new HashMap<>();
    private final CompletableFuture<Void> stop = new CompletableFuture<>();
    private final Path home;

    CapturedConsole(Path home) {
        this.home = home;
    }

    CapturedConsole with(String variable, String value) {
        environment.put(variable, value);
        return this;
    }

    /** Asks the program to end, as Ctrl-C does. */
    void stop() {
        stop.complete(null);
    }

    int execute(String... args) {
        return NodeAgentMain.execute(
                new Console(
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8),
                        environment,
                        home,
                        stop,
                        level -> {}),
                args);
    }

    List<String> out() {
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    List<String> err() {
        return err.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
