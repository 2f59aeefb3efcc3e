package dev.podcache.report;

import dev.podcache.cli.output.Spread;
import dev.podcache.report.ScaleResults.Rounds;
import java.util.LinkedHashMap;
import java.util.Map;

/** The cost of holding hundreds of single objects of a real API server, beside fabric8's informers. */
final class ScaleReport {

    private static final String OURS = "PODCACHE_WATCH";
    private static final String SCOPED = "PODCACHE_NAMESPACE";
    private static final String INFORMERS = "INFORMER_PER_OBJECT";
    private static final String NAMESPACE = "NAMESPACE_INFORMER";
    private static final Rounds SYNC = new Rounds("sync", "default");
    private static final Rounds SYNC_100 = new Rounds("sync", "100");
    private static final Rounds LATENCY = new Rounds("latency", "default");
    private static final Rounds MANY = new Rounds("5000", "default");
    private static final Rounds MANY_100 = new Rounds("5000", "100");
    private static final Rounds MEMORY = new Rounds("memory", "default");
    private static final double KILO = 1e-3;
    private static final double MEGA = 1e-6;
    private static final Map<String, String> LABELS = labels();

    private final ScaleResults results;

    private ScaleReport(ScaleResults results) {
        this.results = results;
    }

    static Report of(ScaleResults results) {
        ScaleReport report = new ScaleReport(results);
        return new Report(
                Map.of(
                        "sync", report.sync(),
                        "latency", report.latency(),
                        "many", report.many(),
                        "memory", report.memory(),
                        "namespace-beside", report.besideNamespaceInformer(),
                        "informers-beside", report.besideInformers(),
                        "get-beside", report.besideGet(),
                        "scale-goals", report.goals()),
                Map.of(
                        "sync.svg", report.syncPlot(),
                        "latency.svg", report.latencyPlot(),
                        "memory.svg", report.memoryPlot()));
    }

    private static Map<String, String> labels() {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put(OURS, "Podcache, WATCH");
        labels.put(SCOPED, "Podcache, scope NAMESPACE");
        labels.put("PODCACHE_CACHE", "Podcache, CACHE");
        labels.put(INFORMERS, "informer per object");
        labels.put("INFORMERS_TOGETHER", "informers started together");
        labels.put("INFORMERS_TOGETHER_OKHTTP", "informers started together, OkHttp");
        labels.put(NAMESPACE, "one informer on the namespace");
        labels.put("GET", "a GET for each read, no cache");
        return labels;
    }

    private void syncRow(Table table, Rounds rounds, String by, String label) {
        table.row(
                label,
                results.spread(rounds, by, "syncMillis").text(),
                results.first(rounds, by, "syncMillis").text(),
                results.spread(rounds, by, "cpuMillis").text(),
                results.spread(rounds, by, "connections").text(),
                results.spread(rounds, by, "threads").text(),
                results.spread(rounds, by, "heapBytesPerObject").times(KILO).text(),
                results.spread(rounds, by, "clientHeapBytes").times(KILO).text());
    }

    private static Table syncTable(String what) {
        return new Table(
                what,
                "until all can be read, ms",
                "first round, ms",
                "CPU, ms",
                "connections",
                "threads",
                "heap per object, KB",
                "heap of its client, once, KB");
    }

    private String sync() {
        Table table = syncTable("600 Secrets");
        for (String by :
                new String[] {OURS, SCOPED, INFORMERS, "INFORMERS_TOGETHER", "INFORMERS_TOGETHER_OKHTTP", NAMESPACE}) {
            syncRow(table, SYNC, by, LABELS.get(by));
        }
        syncRow(table, SYNC_100, OURS, "Podcache, server's limit 100 streams");
        syncRow(table, SYNC_100, INFORMERS, "informer per object, limit 100 streams");
        return results.provenance("sync") + "\n\n" + table.text();
    }

    private String many() {
        Table table = syncTable("5,000 Secrets");
        syncRow(table, MANY, OURS, "Podcache, WATCH");
        syncRow(table, MANY, SCOPED, LABELS.get(SCOPED));
        syncRow(table, MANY_100, OURS, "Podcache, server's limit 100 streams");
        return results.provenance("5000") + "\n\n" + table.text();
    }

    private String latency() {
        Table table = new Table(
                "one more object",
                "first get, median, ms",
                "99th percentile",
                "update visible after the update call returned, median, ms");
        for (String by : new String[] {OURS, INFORMERS, "GET"}) {
            table.row(
                    LABELS.get(by),
                    results.spread(LATENCY, by, "firstGetMedian").text(),
                    results.spread(LATENCY, by, "firstGetP99").text(),
                    by.equals("GET")
                            ? ""
                            : results.spread(LATENCY, by, "visibleAfterUpdateReturnedMedian")
                                    .text());
        }
        return results.provenance("latency") + "\n\n" + table.text();
    }

    private String memory() {
        Table table =
                new Table("20,000 Secrets in the namespace, 600 referenced", "heap, MB", "until they can be read, ms");
        for (String by : new String[] {OURS, SCOPED, "PODCACHE_CACHE", NAMESPACE}) {
            table.row(
                    LABELS.get(by),
                    results.spread(MEMORY, by, "heapBytes").times(MEGA).text(),
                    results.spread(MEMORY, by, "syncMillis").text());
        }
        return results.provenance("memory") + "\n\n" + table.text();
    }

    /** One sentence for who would take one informer on the namespace. */
    private String besideNamespaceInformer() {
        return "600 of the 20,000 Secrets of a namespace: "
                + results.spread(MEMORY, OURS, "heapBytes").times(MEGA).text() + " MB of heap, beside "
                + results.spread(MEMORY, NAMESPACE, "heapBytes").times(MEGA).text() + " MB. All of 600 Secrets: "
                + results.spread(SYNC, OURS, "syncMillis").text() + " ms until all can be read, with scope NAMESPACE "
                + results.spread(SYNC, SCOPED, "syncMillis").text() + " ms, beside "
                + results.spread(SYNC, NAMESPACE, "syncMillis").text() + " ms; "
                + kilobytes(OURS) + " and " + kilobytes(SCOPED) + " KB of heap each, beside " + kilobytes(NAMESPACE)
                + " KB.";
    }

    /** One sentence for who would take an informer for each object. */
    private String besideInformers() {
        return "600 Secrets: " + results.spread(SYNC, OURS, "syncMillis").text() + " ms until all can be read, beside "
                + results.spread(SYNC, INFORMERS, "syncMillis").text() + " ms; "
                + results.spread(SYNC, OURS, "connections").text() + " connections, beside "
                + results.spread(SYNC, INFORMERS, "connections").text() + "; " + kilobytes(OURS)
                + " KB of heap each, beside " + kilobytes(INFORMERS) + " KB.";
    }

    /** One sentence for who would read without a cache. */
    private String besideGet() {
        return "The first get of one more object: "
                + results.spread(LATENCY, OURS, "firstGetMedian").text() + " ms, beside "
                + results.spread(LATENCY, "GET", "firstGetMedian").text()
                + " ms for a GET (medians). Every later get is answered from memory, and makes no request.";
    }

    private String kilobytes(String by) {
        return results.spread(SYNC, by, "heapBytesPerObject").times(KILO).text();
    }

    private String goals() {
        return Table.ofGoals()
                .goal(
                        "sync of 600, relative to an informer per object",
                        results.ratio(SYNC, OURS, INFORMERS, "syncMillis"),
                        1 / 8.0)
                .goal(
                        "sync of 600, relative to one informer on the namespace",
                        results.ratio(SYNC, OURS, NAMESPACE, "syncMillis"),
                        2)
                .goal("the same with scope NAMESPACE", results.ratio(SYNC, SCOPED, NAMESPACE, "syncMillis"), 1.5)
                .goal("sync of 600, first round, ms", results.first(SYNC, OURS, "syncMillis"), 1_500)
                .goal("connections for 600", results.spread(SYNC, OURS, "connections"), 5)
                .goal("connections for 600, limit 100", results.spread(SYNC_100, OURS, "connections"), 8)
                .goal("connections for 5,000", results.spread(MANY, OURS, "connections"), 22)
                .goal("connections for 5,000, limit 100", results.spread(MANY_100, OURS, "connections"), 52)
                .goal("threads at most, 5,000 objects", results.spread(MANY, OURS, "mostThreads"), 12)
                .goal(
                        "heap per object of 600, KB",
                        results.spread(SYNC, OURS, "heapBytesPerObject").times(KILO),
                        5)
                .goal("first get, median, ms", results.spread(LATENCY, OURS, "firstGetMedian"), 3)
                .goal("first get, 99th percentile, ms", results.spread(LATENCY, OURS, "firstGetP99"), 10)
                .goal(
                        "first get, median, relative to an informer",
                        results.ratio(LATENCY, OURS, INFORMERS, "firstGetMedian"),
                        0.4)
                .goal(
                        "first get, median, relative to a bare GET",
                        results.ratio(LATENCY, OURS, "GET", "firstGetMedian"),
                        1.5)
                .goal(
                        "update visible, median, ms",
                        results.spread(LATENCY, OURS, "visibleAfterUpdateReturnedMedian"),
                        2)
                .goal(
                        "heap of 600 of 20,000, MB",
                        results.spread(MEMORY, OURS, "heapBytes").times(MEGA),
                        6)
                .text();
    }

    private BarChart syncPlot() {
        BarChart chart = plot("Time until 600 Secrets of a kube-apiserver can be read", " ms");
        for (String by :
                new String[] {OURS, SCOPED, INFORMERS, "INFORMERS_TOGETHER", "INFORMERS_TOGETHER_OKHTTP", NAMESPACE}) {
            add(chart, by, results.spread(SYNC, by, "syncMillis"));
        }
        return chart;
    }

    private BarChart latencyPlot() {
        BarChart chart = plot("First get of one more object, with 600 objects cached: median", " ms");
        for (String by : new String[] {OURS, INFORMERS, "GET"}) {
            add(chart, by, results.spread(LATENCY, by, "firstGetMedian"));
        }
        return chart;
    }

    private BarChart memoryPlot() {
        BarChart chart = plot("Heap used when pods refer to 600 of the 20,000 Secrets in a namespace", " MB");
        for (String by : new String[] {OURS, SCOPED, "PODCACHE_CACHE", NAMESPACE}) {
            add(chart, by, results.spread(MEMORY, by, "heapBytes").times(MEGA));
        }
        return chart;
    }

    private BarChart plot(String title, String unit) {
        return new BarChart(
                        title,
                        "warm rounds: median, lowest and highest; "
                                + results.machine().date(),
                        unit)
                .group("");
    }

    private static void add(BarChart chart, String by, Spread value) {
        if (by.startsWith("PODCACHE")) {
            chart.ours(LABELS.get(by), value);
        } else {
            chart.other(LABELS.get(by), value);
        }
    }
}
