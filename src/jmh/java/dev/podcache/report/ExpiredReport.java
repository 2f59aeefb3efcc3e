package dev.podcache.report;

import java.util.LinkedHashMap;
import java.util.Map;

/** The cost of a get of an expired object, without the request. */
final class ExpiredReport {

    private ExpiredReport() {}

    static Report of(Results results) {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put("podcache", "Podcache, CACHE");
        labels.put("caffeine", "Caffeine, expireAfterWrite");
        labels.put("caffeineRefresh", "Caffeine, refreshAfterWrite (returns the old object)");
        Table table =
                new Table("10,000 expired objects", "best, ns", "median, ns", "relative to expireAfterWrite", "bytes");
        Run baseline = results.find("ExpiredKeyBenchmark.caffeine", 1, Map.of());
        labels.forEach((method, label) -> {
            Run run = results.find("ExpiredKeyBenchmark." + method, 1, Map.of());
            table.row(
                    label,
                    run.best().text(),
                    run.typical().text(),
                    run.bestTo(baseline).text(),
                    run.rate("gc.alloc.rate.norm").text());
        });
        return new Report(Map.of("expired", results.provenance() + "\n\n" + table.text()), Map.of());
    }
}
