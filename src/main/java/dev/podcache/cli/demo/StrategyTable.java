package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Seconds;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** The strategies side by side: a table with a column for each {@link DemoSide#facts()}. */
final class StrategyTable {

    private static final ImmutableMap<String, String> OUTAGE = ImmutableMap.of(
            "hits", "up-to-date reads",
            "staleServed", "stale reads",
            "failed", "failed reads",
            "podsKeptWaiting", "pods whose reads waited");

    private final ImmutableList<ImmutableMap<String, Object>> sides;
    private final StringBuilder table = new StringBuilder();

    StrategyTable(ImmutableList<ImmutableMap<String, Object>> sides) {
        this.sides = sides;
        table.append(System.lineSeparator()).append(System.lineSeparator());
        table.append("-- The same workload under each strategy");
        row("", side -> fact(side, "strategy"));
        row("reads", side -> fact(side, "reads"));
        row("requests at the server", side -> fact(side, "requestsAtServer"));
        rows("requestsByVerb", "  ", ImmutableMap.of());
        row("connections at the end", side -> fact(side, "connections"));
        row("watches at the end", side -> fact(side, "openWatches"));
        rows("seenAfterSeconds", "until a read saw the ", ImmutableMap.of());
        rows("outage", "during the failure: ", OUTAGE);
    }

    /** Returns the table, after an empty line. */
    String text() {
        return table.toString();
    }

    /** Adds a row for each name in a map of facts. */
    private void rows(String fact, String label, ImmutableMap<String, String> labels) {
        sides.stream()
                .flatMap(side -> map(side, fact).keySet().stream())
                .distinct()
                .forEach(name -> row(label + labels.getOrDefault(name, "" + name), side -> {
                    Object value = map(side, fact).get(name);
                    return value == null ? "-" : value;
                }));
    }

    private void row(String label, Function<Map<String, Object>, Object> cell) {
        StringBuilder row = new StringBuilder(String.format("  %-60s", label));
        for (ImmutableMap<String, Object> side : sides) {
            Object value = cell.apply(side);
            row.append(String.format("%10s", value instanceof Double seconds ? Seconds.text(seconds) : value));
        }
        table.append(System.lineSeparator()).append(row);
    }

    private static Map<?, ?> map(Map<String, Object> side, String fact) {
        return (Map<?, ?>) fact(side, fact);
    }

    private static Object fact(Map<String, Object> side, String name) {
        return Objects.requireNonNull(side.get(name), name);
    }
}
