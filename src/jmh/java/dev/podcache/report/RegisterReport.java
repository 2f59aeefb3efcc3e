package dev.podcache.report;

import dev.podcache.cli.output.Spread;
import java.util.LinkedHashMap;
import java.util.Map;

/** The cost of registrations, beside the kubelet's algorithm in Java. */
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
        labels.put("comeAndGo TTL", "register and unregister, CACHE");
        labels.put("sharedComeAndGo TTL", "objects shared with other pods, CACHE");
        labels.put("sharedComeAndGo WATCH", "objects shared with other pods, WATCH");
        labels.put("comeAgain TTL", "register again, unchanged");
        labels.put("frontDoorComeAndGo TTL", "register and unregister, both managers");
        labels.put("kubeletComeAndGo", "kubelet in Java: register and unregister");
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
                .goal("register and unregister, ns (the kubelet in Go: 650)", pair.best(), KUBELET_NANOS)
                .goal("register and unregister, bytes (the kubelet in Go: 384)", bytes(pair), KUBELET_BYTES)
                .goal("register again, relative to register and unregister", again.bestTo(pair), 0.2)
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
