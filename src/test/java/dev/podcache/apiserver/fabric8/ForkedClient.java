package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.podcache.testing.ForkedJava;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A client in a JVM of its own, whose names are looked up in a hosts file of the test, each time anew. It makes requests
 * as {@link WireFixture#make} does.
 */
final class ForkedClient implements AutoCloseable {

    private final Path output;
    private final Process process;
    private final PrintWriter commands;

    /**
     * Starts it.
     *
     * @param hosts such as {@code 127.0.0.1 localhost}
     * @param folder where its output is kept
     */
    ForkedClient(Path hosts, Path folder, String url) {
        output = folder.resolve("client.out");
        try {
            process = ForkedJava.program(
                            List.of(
                                    "-Djdk.net.hosts.file=" + hosts,
                                    "-Dsun.net.inetaddr.ttl=0",
                                    "-Dsun.net.inetaddr.negative.ttl=0"),
                            Program.class,
                            List.of(url))
                    .redirectOutput(output.toFile())
                    .redirectError(folder.resolve("client.err").toFile())
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        commands = new PrintWriter(process.getOutputStream(), true, UTF_8);
    }

    /** Begins a request. */
    void make(WireFixture.RequestKind call, String name) {
        commands.println(call + " " + name);
    }

    /** Waits until the request about {@code name} is over. Returns "answered", or its failure. */
    String outcomeOf(String name) {
        await().until(() -> outcome(name).isPresent());
        return outcome(name).orElseThrow();
    }

    private Optional<String> outcome(String name) {
        String begin = name + " ";
        try {
            return Files.readAllLines(output).stream()
                    .filter(line -> line.startsWith(begin))
                    .map(line -> line.substring(begin.length()))
                    .findFirst();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
        commands.close();
    }

    /** Reads requests from its input, and prints to its output how each ends. */
    static final class Program extends WireFixture {

        private Program() {}

        /**
         * Runs it until its input ends.
         *
         * @param arguments the URL of the server
         */
        public static void main(String[] arguments) throws IOException {
            Program program = new Program();
            program.connect(config(arguments[0]).withTrustCerts(true).build());
            BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                int space = line.indexOf(' ');
                String name = line.substring(space + 1);
                program.make(RequestKind.valueOf(line.substring(0, space)), name)
                        .whenComplete((answer, failure) ->
                                System.out.println(name + " " + (failure == null ? "answered" : "failed: " + failure)));
            }
        }
    }
}
