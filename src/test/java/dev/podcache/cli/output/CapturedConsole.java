package dev.podcache.cli.output;

import dev.podcache.cli.Main;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Runs the program in this process and keeps what it prints. */
public final class CapturedConsole {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Map<String, String> environment = new HashMap<>();
    private final CompletableFuture<Void> stop = new CompletableFuture<>();
    private final Path home;
    private String input = "";
    private boolean terminal;

    public CapturedConsole(Path home) {
        this.home = home;
    }

    public CapturedConsole with(String variable, String value) {
        environment.put(variable, value);
        return this;
    }

    /** Makes the program believe that a person reads its output. */
    public CapturedConsole onATerminal() {
        terminal = true;
        return this;
    }

    /** Sets what the program reads from standard input. */
    public CapturedConsole withInput(String text) {
        input = text;
        return this;
    }

    /** Asks the program to end, as Ctrl-C does. */
    public void stop() {
        stop.complete(null);
    }

    public int execute(String... args) {
        return Main.execute(console(), args);
    }

    /** Returns the console whose output this keeps. */
    public Console console() {
        return new Console(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                environment,
                home,
                stop,
                new CompletableFuture<>(),
                terminal,
                level -> {});
    }

    public List<String> out() {
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    /** Returns standard error as it was written. */
    public String errText() {
        return err.toString(StandardCharsets.UTF_8);
    }

    public List<String> err() {
        return err.toString(StandardCharsets.UTF_8).lines().toList();
    }
}
