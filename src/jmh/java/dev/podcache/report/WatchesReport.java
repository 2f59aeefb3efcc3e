package dev.podcache.report;

import dev.podcache.cli.output.Spread;
import dev.podcache.object.Numbers;
import dev.podcache.report.ScaleResults.Rounds;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What watches of single objects cost kube-apiserver, by {@code NamedWatchesRun}. */
final class WatchesReport {

    private static final double MEGA = 1e-6;
    private static final double SECOND = 1e-3;
    private static final int THOUSAND = 1_000;

    private final ScaleResults results;
    private final int most;

    private WatchesReport(ScaleResults results) {
        this.results = results;
        this.most = results.parts("OBJECT").stream()
                .mapToInt(Integer::parseInt)
                .max()
                .orElseThrow(() -> new IllegalArgumentException("no watches of single objects were measured"));
    }

    static Report of(ScaleResults results) {
        WatchesReport report = new WatchesReport(results);
        return new Report(
                Map.of("watches", report.table(), "watches-rule", report.rule()), Map.of("watches.svg", report.plot()));
    }

    /** Who watched, by the words for it, in the order of the table. */
    private Map<String, Watched> rows() {
        Map<String, Watched> rows = new LinkedHashMap<>();
        rows.put("nothing", row("NONE", 0));
        for (String count : results.parts("OBJECT")) {
            int watches = Integer.parseInt(count);
            rows.put(Numbers.exact(watches) + " Secrets by name", row("OBJECT", watches));
        }
        rows.put(Numbers.exact(most) + " Secrets, scope NAMESPACE", row("NAMESPACE", most));
        rows.put(Numbers.exact(most) + " Secrets, an informer", row("INFORMER", most));
        return rows;
    }

    private record Watched(Rounds rounds, String contestant) {}

    private static Watched row(String contestant, int count) {
        return new Watched(new Rounds(Integer.toString(count), "default"), contestant);
    }

    private Spread figure(Watched row, String name) {
        return results.every(row.rounds(), row.contestant(), name);
    }

    private String updates() {
        return Numbers.text(figure(row("OBJECT", most), "updatesPerSecond").median());
    }

    private String table() {
        Table table = new Table(
                "watched",
                "watches",
                "resident memory, MB",
                "goroutines",
                "processors in use",
                "at " + updates() + " updates a second: resident memory, MB",
                "processors in use",
                "to open: processor time, s",
                "until all can be read, s");
        rows().forEach((what, row) -> table.row(
                what,
                figure(row, "openWatches").text(),
                figure(row, "idleResidentBytes").times(MEGA).text(),
                figure(row, "idleGoroutines").text(),
                figure(row, "idleCores").text(),
                figure(row, "busyResidentBytes").times(MEGA).text(),
                figure(row, "busyCores").text(),
                figure(row, "openCpuMillis").times(SECOND).text(),
                figure(row, "openMillis").times(SECOND).text()));
        return results.machine().sentence() + " kube-apiserver " + results.server()
                + " and etcd on the same cores as their clients, over TLS; the server started anew for each row."
                + (results.rounds() > 1
                        ? " Median of " + results.rounds() + " rounds, in brackets the lowest and the highest."
                        : " One round.")
                + "\n\n" + table.text();
    }

    private String rule() {
        Watched named = row("OBJECT", most);
        Watched none = row("NONE", 0);
        double memory = figure(named, "idleResidentBytes").median()
                - figure(none, "idleResidentBytes").median();
        double other = figure(row("NAMESPACE", most), "idleResidentBytes").median()
                - figure(none, "idleResidentBytes").median();
        double idle =
                figure(named, "idleCores").median() - figure(none, "idleCores").median();
        double busy =
                figure(named, "busyCores").median() - figure(none, "busyCores").median();
        return "**Rule of thumb:** a thousand watches of single objects cost the server about "
                + Numbers.text(Math.max(0, memory) * MEGA * THOUSAND / most) + " MB of memory, "
                + Numbers.text(figure(named, "openCpuMillis").median() / most)
                + " s of processor time to open, and " + more(idle * THOUSAND / most, " of a processor")
                + " while nothing changes. At " + updates() + " updates a second, "
                + Numbers.exact(most) + " watches took " + more(busy, " of a processor")
                + " more than none. The same " + Numbers.exact(most)
                + " objects by one watch of their namespace: " + more(other * MEGA, " MB of memory") + ".";
    }

    /** What is not above the noise of the server is no figure. */
    private static String more(double value, String unit) {
        return value <= 0 ? "nothing that can be measured" : Numbers.text(value) + unit;
    }

    private BarChart plot() {
        BarChart chart = new BarChart(
                        "Resident memory of kube-apiserver, by what is watched",
                        "nothing changes; " + results.machine().date(),
                        " MB")
                .group("");
        rows().forEach((what, row) -> {
            Spread memory = figure(row, "idleResidentBytes").times(MEGA);
            if (List.of("OBJECT", "NAMESPACE").contains(row.contestant())) {
                chart.ours(what, memory);
            } else {
                chart.other(what, memory);
            }
        });
        return chart;
    }
}
