package dev.podcache.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.LocalDate;
import java.util.Locale;

/**
 * Where and when something was measured.
 *
 * @param date of the run, in UTC
 * @param cpu the processor's name
 * @param cores how many this JVM may use
 * @param java the version of the JVM
 * @param loadAtStart the load average of the minute before the run; below 1 nothing else ran
 * @param note what a reader must know of this run, or empty
 */
public record Machine(String date, String cpu, int cores, String java, double loadAtStart, String note) {

    private static final Path CPUS = Path.of("/proc/cpuinfo");

    /** Returns this machine, with the note that the system property {@code measure.note} gives. */
    public static Machine now() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        return new Machine(
                LocalDate.now(Clock.systemUTC()).toString(),
                cpuName(),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.version"),
                Math.round(load * 10) / 10.0,
                System.getProperty("measure.note", ""));
    }

    private static String cpuName() {
        if (!Files.exists(CPUS)) {
            return System.getProperty("os.arch");
        }
        try {
            return Files.readAllLines(CPUS).stream()
                    .filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One sentence for people. */
    public String sentence() {
        String sentence = String.format(
                Locale.ROOT,
                "Measured on %s: %d cores (%s), OpenJDK %s, load average %.1f at the start.",
                date,
                cores,
                cpu,
                java,
                loadAtStart);
        return note.isEmpty() ? sentence : "**" + note + "** " + sentence;
    }
}
