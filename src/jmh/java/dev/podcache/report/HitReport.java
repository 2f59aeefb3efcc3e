package dev.podcache.report;

import dev.podcache.cli.output.Spread;
import dev.podcache.object.Numbers;
import java.util.LinkedHashMap;
import java.util.Map;

/** The cost of a cache hit, relative to {@code ConcurrentHashMap.get}. */
final class HitReport {

    private static final String HIT = "GetHitBenchmark.hit";
    private static final int MANY = 8;
    private static final double RATIO = 1.3;
    private static final double NANOS = 6;
    private static final Map<String, String> LABELS = labels();

    private final Results results;

    private HitReport(Results results) {
        this.results = results;
    }

    static Report of(Results results) {
        HitReport report = new HitReport(results);
        return new Report(
                Map.of(
                        "hits", report.ratios(),
                        "hits-beside", report.beside(),
                        "hits-nanos", report.nanos(),
                        "hits-goals", report.goals()),
                Map.of("hits.svg", report.plot()));
    }

    private static Map<String, String> labels() {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put("CONCURRENT_HASH_MAP", "ConcurrentHashMap");
        labels.put("WATCH", "Podcache, WATCH");
        labels.put("TTL", "Podcache, CACHE");
        labels.put("CAFFEINE", "Caffeine, expireAfterWrite");
        labels.put("CAFFEINE_REFRESH", "Caffeine, refreshAfterWrite");
        labels.put("FABRIC8_INFORMER", "lookup in a fabric8 informer");
        labels.put("KUBELET_TWO_MUTEXES", "the kubelet's two mutexes, in Java");
        return labels;
    }

    private Run run(String by, int threads) {
        return results.find(HIT, threads, Map.of("by", by));
    }

    /** Whether it is measured with one thread only. */
    private static boolean isForOne(String by) {
        return by.equals("FABRIC8_INFORMER") || by.equals("KUBELET_TWO_MUTEXES");
    }

    private Run map(int threads) {
        return run("CONCURRENT_HASH_MAP", threads);
    }

    private String ratios() {
        Table table = new Table("512 Secrets", "1 thread, relative", "8 threads, relative", "bytes allocated");
        LABELS.forEach((by, label) -> table.row(
                label,
                run(by, 1).bestTo(map(1)).text(),
                isForOne(by) ? "" : run(by, MANY).bestTo(map(MANY)).text(),
                bytes(by)));
        return results.provenance()
                + " The best iteration of each fork, divided by the best iteration of the map in the same round.\n\n"
                + table.text();
    }

    /** One sentence for who asks what a hit costs. */
    private String beside() {
        return "A hit under WATCH takes " + run("WATCH", 1).bestTo(map(1)).text()
                + " times a lookup in a `ConcurrentHashMap` and allocates " + bytes("WATCH")
                + " bytes; one of Caffeine with `expireAfterWrite` takes "
                + run("CAFFEINE", 1).bestTo(map(1)).text() + ", a lookup in a fabric8 informer "
                + run("FABRIC8_INFORMER", 1).bestTo(map(1)).text() + " (one thread).";
    }

    private String nanos() {
        Table table =
                new Table("512 Secrets", "1 thread, best, ns", "median", "8 threads, best, ns per thread", "median");
        LABELS.forEach((by, label) -> table.row(
                label,
                run(by, 1).best().text(),
                run(by, 1).typical().text(),
                isForOne(by) ? "" : run(by, MANY).best().text(),
                isForOne(by) ? "" : run(by, MANY).typical().text()));
        return table.text();
    }

    private String goals() {
        Table table = Table.ofGoals();
        for (String by : new String[] {"WATCH", "TTL"}) {
            String label = LABELS.get(by);
            table.goal(label + ", 1 thread, relative to the map", run(by, 1).bestTo(map(1)), RATIO);
            table.goal(label + ", 8 threads, relative to the map", run(by, MANY).bestTo(map(MANY)), RATIO);
            table.goal(label + ", 1 thread, ns more than the map", run(by, 1).bestLess(map(1)), NANOS);
        }
        return table.text();
    }

    /** JMH counts a few bytes of its own, spread over millions of operations. */
    private String bytes(String by) {
        return Numbers.text(Math.rint(run(by, 1).rate("gc.alloc.rate.norm").median()));
    }

    private BarChart plot() {
        BarChart chart = new BarChart(
                "Cache hit, relative to ConcurrentHashMap.get",
                "512 Secrets; best iteration of each fork: median, lowest and highest; "
                        + results.machine().date(),
                "");
        for (int threads : new int[] {1, MANY}) {
            chart.group(
                    threads == 1
                            ? "1 thread"
                            : threads + " threads on " + results.machine().cores() + " cores");
            LABELS.keySet().stream()
                    .filter(by -> !by.equals("CONCURRENT_HASH_MAP"))
                    .filter(by -> threads == 1 || !isForOne(by))
                    .forEach(by -> add(chart, by, run(by, threads).bestTo(map(threads))));
        }
        return chart;
    }

    private static void add(BarChart chart, String by, Spread ratio) {
        if (by.equals("WATCH") || by.equals("TTL")) {
            chart.ours(LABELS.get(by), ratio);
        } else {
            chart.other(LABELS.get(by), ratio);
        }
    }
}
