package dev.podcache.josdk;

import com.google.common.base.Splitter;
import dev.podcache.object.ObjectKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** An {@link OperatorProcess}, seen from the one that started it. */
final class OperatorUnderTest implements AutoCloseable {

    private static final long MINUTES = 10;

    final SeenSecrets seen = new SeenSecrets();
    private final Process process;
    private final PrintStream commands;
    private final BlockingQueue<List<String>> answers = new LinkedBlockingQueue<>();

    OperatorUnderTest(OperatorContestant contestant, Path kubeconfig) throws IOException {
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx1g",
                        "-cp",
                        System.getProperty("java.class.path"),
                        OperatorProcess.class.getName(),
                        contestant.name(),
                        kubeconfig.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        Thread reader = new Thread(this::read, "operator output");
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                List<String> words = Splitter.on(' ').splitToList(line);
                if (words.get(0).equals("M")) {
                    answers.add(words);
                } else {
                    reconciled(words);
                }
            }
        } catch (IOException ended) {
            // closed
        }
    }

    private void reconciled(List<String> words) {
        long nanos = Long.parseLong(words.get(1));
        ObjectKey website = key(words.get(2));
        seen.reconciled(website);
        for (String secret : words.subList(3, words.size())) {
            int end = secret.indexOf('=');
            seen.seen(website, key(secret.substring(0, end)), Long.parseLong(secret.substring(end + 1)), nanos);
        }
    }

    private static ObjectKey key(String path) {
        int slash = path.indexOf('/');
        return ObjectKey.of(path.substring(0, slash), path.substring(slash + 1));
    }

    /** What the process costs: bytes of heap in use after full collections, connections and threads. */
    record Cost(long heap, long connections, long threads) {}

    /** Gives a command, and waits until it is done. */
    Cost command(String command) throws InterruptedException {
        commands.println(command);
        List<String> words = answers.poll(MINUTES, TimeUnit.MINUTES);
        if (words == null) {
            throw new AssertionError("the operator did not answer to " + command);
        }
        return new Cost(Long.parseLong(words.get(1)), Long.parseLong(words.get(2)), Long.parseLong(words.get(3)));
    }

    @Override
    public void close() {
        commands.close(); // then the process ends
        process.destroy();
        process.onExit().join();
    }
}
