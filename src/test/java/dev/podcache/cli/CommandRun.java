package dev.podcache.cli;

import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.testing.NewThread;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A command on a thread of its own, until it is stopped. */
final class CommandRun implements AutoCloseable {

    private static final int PATIENCE_SECONDS = 120;

    private final CapturedConsole console = new CapturedConsole(Path.of(""));
    private final CompletableFuture<Integer> code;

    private CommandRun(List<String> arguments) {
        code = CompletableFuture.supplyAsync(() -> console.execute(arguments.toArray(String[]::new)), NewThread.EACH);
    }

    static CommandRun start(String command, Path kubeconfig, String... options) {
        List<String> arguments = new ArrayList<>(List.of(command, "--kubeconfig", kubeconfig.toString()));
        arguments.addAll(List.of(options));
        return new CommandRun(arguments);
    }

    List<String> out() {
        return console.out();
    }

    List<String> err() {
        return console.err();
    }

    boolean says(String text) {
        return out().stream().anyMatch(line -> line.contains(text));
    }

    /** Asks it to end, and returns its exit code. */
    int stop() throws Exception {
        console.stop();
        return awaitEnd();
    }

    int awaitEnd() throws Exception {
        return code.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        console.stop();
        code.join();
    }
}
