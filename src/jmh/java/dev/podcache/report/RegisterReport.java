package dev.podcache.report;

import java.util.LinkedHashMap;
import java.util.Map;

/** What registrations cost, next to the kubelet's algorithm in Java. */
final class RegisterReport {

    private static final double KUBELET_NANOS = 650;
    private static final double KUBELET_BYTES = 384;
    private static final Map<String, String> LABELS = labels();

    private final Results results;

    private RegisterReport(Results results) {
        this.results = results;
    }

    static Report of(Results results) {
        RegisterReport report = new RegisterReport(results);
        return new Report(
                Map.of("register", report.table(), "register-goals", report.goals()),
                Map.of("register.svg", report.plot()));
    }

    private static Map<String, String> labels() {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put("comeAndGo TTL", "comes and goes, CACHE");
        labels.put("sharedComeAndGo TTL", "the same, objects shared, CACHE");
        labels.put("sharedComeAndGo WATCH", "the same, objects shared, WATCH");
        labels.put("comeAgain TTL", "again, unchanged");
        labels.put("frontDoorComeAndGo TTL", "comes and goes, both managers");
        labels.put("kubeletComeAndGo", "kubelet in Java: comes and goes");
        labels.put("kubeletComeAgain", "kubelet in Java: again, unchanged");
        return labels;
    }

    private Run run(String name) {
        String[] parts = name.split(" ");
        return results.find(
                "RegisterPodBenchmark." + parts[0], 1, parts.length == 1 ? Map.of() : Map.of("entries", parts[1]));
    }

    private static Spread bytes(Run run) {
        return run.per("bytes", "pods");
    }

    private String table() {
        Table table = new Table("a pod with 5 Secrets", "best, ns", "median, ns", "bytes allocated");
        LABELS.forEach((name, label) -> table.row(
                label,
                run(name).best().text(),
                run(name).typical().text(),
                bytes(run(name)).text()));
        return results.provenance() + "\n\n" + table.text();
    }

    private String goals() {
        Run pair = run("comeAndGo TTL");
        Run again = run("comeAgain TTL");
        return Table.ofGoals()
                .goal("comes and goes, ns (the kubelet in Go: 650)", pair.best(), KUBELET_NANOS)
                .goal("comes and goes, bytes (the kubelet in Go: 384)", bytes(pair), KUBELET_BYTES)
                .goal("again, unchanged, to comes and goes", again.bestTo(pair), 0.2)
                .text();
    }

    private BarChart plot() {
        BarChart chart = new BarChart(
                "Registering a pod with 5 Secrets",
                "beside 100 other pods; best iteration of each fork: median, lowest and highest; "
                        + results.machine().date(),
                " ns");
        chart.group("");
        LABELS.forEach((name, label) -> {
            if (name.startsWith("kubelet")) {
                chart.other(label, run(name).best());
            } else {
                chart.ours(label, run(name).best());
            }
        });
        return chart;
    }
}
