package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** The strategies side by side, as a table for people and a list for programs. */
public final class Comparison {

    private static final String NEW_LINE = System.lineSeparator();
    private static final String NOT_SEEN = "-";

    private final ImmutableList<Figures> columns;
    private final StringBuilder table = new StringBuilder();

    /** One column each, in this order. */
    public Comparison(List<Figures> columns) {
        this.columns = ImmutableList.copyOf(columns);
        table.append("-- The same workload under each strategy");
        row("", figures -> figures.strategy().name());
        row("reads", figures -> "" + figures.reads());
        row("requests at the server", figures -> "" + figures.allRequests());
        verbs().forEach(verb -> row("  " + verb, figures -> "" + figures.requests(verb)));
        row("connections, at the end", figures -> "" + figures.connections());
        row("watches, at the end", figures -> "" + figures.watches());
        row("until a read saw the", figures -> "");
        changes().forEach(change -> row("  " + change, figures -> seen(figures, change)));
        if (columns.stream().anyMatch(figures -> figures.outage() != null)) {
            outage();
        }
    }

    /** The table, without a line end after its last line. */
    String text() {
        return table.toString();
    }

    /** Its columns for programs. */
    ImmutableList<Map<String, Object>> facts() {
        return columns.stream().map(Figures::facts).collect(ImmutableList.toImmutableList());
    }

    private void outage() {
        row("while the server failed", figures -> "");
        row("  reads from memory", figures -> during(figures, reads -> reads.hits() + reads.stale()));
        row("    that may be old", figures -> during(figures, Counts::stale));
        row("  reads in vain", figures -> during(figures, Counts::failed));
        row(
                "  pods kept waiting",
                figures -> figures.outage() == null
                        ? NOT_SEEN
                        : "" + figures.outage().podsKeptWaiting());
    }

    private Set<String> verbs() {
        Set<String> verbs = new LinkedHashSet<>();
        columns.forEach(figures -> verbs.addAll(figures.requests().keySet()));
        return verbs;
    }

    private Set<String> changes() {
        Set<String> changes = new LinkedHashSet<>();
        columns.forEach(figures -> changes.addAll(figures.seenAfter().keySet()));
        return changes;
    }

    private static String seen(Figures figures, String change) {
        Double after = figures.seenAfter().get(change);
        return after == null ? NOT_SEEN : Changes.text(after);
    }

    private static String during(Figures figures, Function<Counts, Long> count) {
        return figures.outage() == null
                ? NOT_SEEN
                : "" + count.apply(figures.outage().reads());
    }

    private void row(String label, Function<Figures, String> cell) {
        StringBuilder row = new StringBuilder(String.format("  %-40s", label));
        columns.forEach(figures -> row.append(String.format("%10s", cell.apply(figures))));
        table.append(NEW_LINE).append(row.toString().stripTrailing());
    }
}
