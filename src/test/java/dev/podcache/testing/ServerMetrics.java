package dev.podcache.testing;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The metrics of a kube-apiserver at one moment, from its {@code /metrics}. Immutable. */
public final class ServerMetrics {

    private static final Pattern SAMPLE = Pattern.compile("^(\\w+)(?:\\{(.*)})? (\\S+)$", Pattern.MULTILINE);

    private final String text;
    private final ServerVersion version;

    /**
     * Reads what a server answered.
     *
     * @param text in Prometheus' text format
     * @param version of the server, which decides some of the names
     */
    public ServerMetrics(String text, ServerVersion version) {
        this.text = text;
        this.version = version;
    }

    /**
     * Returns the number of requests that were answered, including errors. A watch counts when it ends.
     *
     * @param verb such as {@code GET}, {@code LIST}, {@code PATCH}
     * @param resource such as {@code secrets}
     */
    public long requests(String verb, String resource) {
        return sum("apiserver_request_total", "verb=\"" + verb + "\"", "resource=\"" + resource + "\"");
    }

    /**
     * Returns the number of open watches.
     *
     * @param resource such as {@code secrets}
     */
    public long openWatches(String resource) {
        return sum(version.watchGauge(), "verb=\"WATCH\"", "resource=\"" + resource + "\"");
    }

    /**
     * Returns the number of open watches that are restricted to a namespace. This excludes the watches of the server
     * itself.
     *
     * @param resource such as {@code secrets}
     */
    public long openWatchesInNamespaces(String resource) {
        return openWatches(resource)
                - sum(version.watchGauge(), "verb=\"WATCH\"", "resource=\"" + resource + "\"", "scope=\"cluster\"");
    }

    /** Returns the processor time of the server's process. */
    public Duration processCpu() {
        return Duration.ofNanos((long) (sumOf("process_cpu_seconds_total") * 1e9));
    }

    /** Returns the resident memory of the server's process, in bytes; 0 if the server runs on a system that does not tell. */
    public long residentMemory() {
        return sum("process_resident_memory_bytes");
    }

    /** Returns the number of goroutines of the server's process. */
    public long goroutines() {
        return sum("go_goroutines");
    }

    /**
     * Returns the sum of all samples of a metric that have all of these labels.
     *
     * @param metric the full name
     * @param labels each as the server prints it, such as {@code code="200"}
     */
    public long sum(String metric, String... labels) {
        return Math.round(sumOf(metric, labels));
    }

    private double sumOf(String metric, String... labels) {
        double sum = 0;
        Matcher sample = SAMPLE.matcher(text);
        while (sample.find()) {
            String found = sample.group(2) == null ? "" : "," + sample.group(2) + ",";
            if (sample.group(1).equals(metric) && hasAll(found, labels)) {
                sum += Double.parseDouble(sample.group(3));
            }
        }
        return sum;
    }

    private static boolean hasAll(String found, String... labels) {
        for (String label : labels) {
            if (!found.contains("," + label + ",")) {
                return false;
            }
        }
        return true;
    }
}
