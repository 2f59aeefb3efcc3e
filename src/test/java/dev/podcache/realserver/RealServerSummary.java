package dev.podcache.realserver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Says how many real-server tests ran and were skipped, on which server and why, from the files that the JVMs of one run
 * have left; says nothing if they have left none. Uses only the JDK: the build runs it from its source.
 *
 * <pre>java RealServerSummary.java folder [executed at least [skipped at most]]</pre>
 *
 * <p>Exits with 1 if a number is beyond its limit.
 */
public final class RealServerSummary {

    private final Map<String, Integer> reasons = new TreeMap<>();
    private String server = "none";
    private int executed;
    private int skipped;

    private RealServerSummary() {}

    public static void main(String... args) {
        RealServerSummary summary = new RealServerSummary();
        summary.readAll(Path.of(args[0]));
        summary.print();
        if (args.length > 1 && summary.executed < Integer.parseInt(args[1])) {
            fail("*** Too few were executed: there must be " + args[1] + " at least.");
        }
        if (args.length > 2 && summary.skipped > Integer.parseInt(args[2])) {
            fail("*** Too many were skipped: there may be " + args[2] + " at most.");
        }
    }

    private static void fail(String message) {
        System.out.println(message);
        System.exit(1);
    }

    private void readAll(Path folder) {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.readAllLines(file).forEach(this::read);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read(String line) {
        String[] words = line.split(" ", 3);
        switch (words[0]) {
            case "server" -> server = words[1];
            case "executed" -> executed += Integer.parseInt(words[1]);
            case "skipped" -> skipped += Integer.parseInt(words[1]);
            case "because" -> reasons.merge(words[2], Integer.parseInt(words[1]), Integer::sum);
            default -> {
                // of one test
            }
        }
    }

    private void print() {
        if (executed + skipped == 0) {
            return;
        }
        if (executed == 0) {
            System.out.println("*** " + skipped + " real-server tests were skipped, none was executed:");
        } else {
            System.out.println(
                    "real-server tests on " + server + ": " + executed + " executed, " + skipped + " skipped");
        }
        reasons.forEach((reason, count) -> System.out.println("    " + count + " skipped: " + reason));
        if (executed == 0) {
            System.out.println(
                    "*** To run them: .ci/run, or mvn verify -Dpodcache.realServer=required, which downloads one.");
        }
    }
}
