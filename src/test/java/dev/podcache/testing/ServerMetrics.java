package dev.podcache.testing;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a real kube-apiserver counted since it started, at one moment: its {@code /metrics}. Immutable. */
public final class ServerMetrics {

    private static final Pattern SAMPLE = Pattern.compile("^(\\w+)(?:\\{(.*)})? (\\S+)$", Pattern.MULTILINE);

    private final String text;
    private final ServerVersion version;

    ServerMetrics(String text, ServerVersion version) {
        this.text = text;
        this.version = version;
    }

    /**
     * Requests that were answered, whatever the answer. A watch is counted when it ends.
     *
     * @param verb such as {@code GET}, {@code LIST}, {@code PATCH}
     * @param resource such as {@code secrets}
     */
    public long requests(String verb, String resource) {
        return sum("apiserver_request_total", "verb=\"" + verb + "\"", "resource=\"" + resource + "\"");
    }

    /**
     * Watches that are open at the server.
     *
     * @param resource such as {@code secrets}
     */
    public long openWatches(String resource) {
        return sum(version.watchGauge(), "verb=\"WATCH\"", "resource=\"" + resource + "\"");
    }

    /**
     * Those of them that are not for all namespaces, as those of the server itself are.
     *
     * @param resource such as {@code secrets}
     */
    public long openWatchesInNamespaces(String resource) {
        return openWatches(resource)
                - sum(version.watchGauge(), "verb=\"WATCH\"", "resource=\"" + resource + "\"", "scope=\"cluster\"");
    }

    /**
     * The sum of all samples of a metric that carry all of these labels.
     *
     * @param metric its full name
     * @param labels each as the server prints it, such as {@code code="200"}
     */
    public long sum(String metric, String... labels) {
        double sum = 0;
        Matcher sample = SAMPLE.matcher(text);
        while (sample.find()) {
            String found = sample.group(2) == null ? "" : "," + sample.group(2) + ",";
            if (sample.group(1).equals(metric) && hasAll(found, labels)) {
                sum += Double.parseDouble(sample.group(3));
            }
        }
        return Math.round(sum);
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
