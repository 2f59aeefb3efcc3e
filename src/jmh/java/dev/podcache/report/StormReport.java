package dev.podcache.report;

import dev.podcache.cli.output.Spread;
import java.util.LinkedHashMap;
import java.util.Map;

/** Time and requests of many concurrent gets of one object that is not cached. */
final class StormReport {

    private static final Map<String, String> LABELS = labels();

    private final Results results;

    private StormReport(Results results) {
        this.results = results;
    }

    static Report of(Results results) {
        StormReport report = new StormReport(results);
        return new Report(Map.of("storms", report.table()), Map.of("storms.svg", report.plot()));
    }

    private static Map<String, String> labels() {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put("PODCACHE", "Podcache, CACHE");
        labels.put("CAFFEINE", "Caffeine, expireAfterWrite");
        labels.put("CAFFEINE_REFRESH", "Caffeine, refreshAfterWrite");
        labels.put("KUBELET_TWO_MUTEXES", "the kubelet's two mutexes, in Java");
        return labels;
    }

    private Run run(String by, String ttl) {
        return results.find("StormBenchmark.storm", 1, Map.of("by", by, "ttl", ttl, "threads", "64"));
    }

    private String table() {
        Table table = new Table("64 threads, one object", "TTL 60 s, µs", "requests", "TTL 0, µs", "requests");
        LABELS.forEach((by, label) -> table.row(
                label,
                run(by, "60").typical().text(),
                requests(by, "60").text(),
                run(by, "0").typical().text(),
                requests(by, "0").text()));
        return results.provenance() + "\n\n" + table.text();
    }

    private Spread requests(String by, String ttl) {
        return run(by, ttl).per("requests", "storms");
    }

    private BarChart plot() {
        BarChart chart = new BarChart(
                "Requests when 64 threads get one uncached object at once",
                "counted at the server; forks: median, lowest and highest; "
                        + results.machine().date(),
                "");
        for (String ttl : new String[] {"60", "0"}) {
            chart.group("TTL " + ttl + " s");
            LABELS.forEach((by, label) -> {
                if (by.equals("PODCACHE")) {
                    chart.ours(label, requests(by, ttl));
                } else {
                    chart.other(label, requests(by, ttl));
                }
            });
        }
        return chart;
    }
}
