package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Event;
import dev.podcache.manager.ChangeDetectionStrategy;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The table at the end. */
public final class Summary {

    private static final String NEW_LINE = System.lineSeparator();

    private final Map<String, String> rows = new LinkedHashMap<>();
    private final ImmutableMap.Builder<String, Object> facts = ImmutableMap.builder();
    private final Counts counts;
    private String comparison = "";

    public Summary(ChangeDetectionStrategy strategy, Inventory inventory, Counts counts) {
        this.counts = counts;
        row("strategy", strategy.name());
        row("pods", "" + inventory.pods());
        row("objects", inventory.secrets() + " Secrets, " + inventory.configMaps() + " ConfigMaps");
        row("references", inventory.references() + " (a pod and an object that it refers to)");
        row("reads", "" + counts.reads());
        row("  hits", part(counts.hits()) + "answered from memory, fresh");
        row("  stale", part(counts.stale()) + "answered from memory, may be old: the server could not be asked");
        row("  waited", part(counts.waited()) + "for a request, several often for the same one");
        row("  in vain", part(counts.failed()) + "of them all: there is no such object, or it could not be had");
        if (strategy != ChangeDetectionStrategy.WATCH) {
            row("fetches", counts.fetchesText());
        }
        facts.put("strategy", strategy.name())
                .put("pods", inventory.pods())
                .put("objects", inventory.objects())
                .put("secrets", inventory.secrets())
                .put("configMaps", inventory.configMaps())
                .put("references", inventory.references())
                .put("reads", counts.reads())
                .put("hits", counts.hits())
                .put("fetches", counts.fetched())
                .put("fetchesByReason", counts.fetches())
                .put("staleServed", counts.stale())
                .put("waited", counts.waited())
                .put("failed", counts.failed());
    }

    /** Adds what became of watches, which only strategy WATCH has. */
    public Summary withWatches(Watched.Tally watches) {
        if (watches.opened() > 0) {
            row(
                    "watches",
                    watches.opened() + " opened, " + watches.lost() + " lost, " + watches.again() + " live again");
        }
        facts.put(
                "watches",
                ImmutableMap.of("opened", watches.opened(), "lost", watches.lost(), "again", watches.again()));
        return this;
    }

    /** Adds what the server counted. */
    public Summary withRequests(long total, ImmutableMap<String, Long> byKind) {
        double share = counts.reads() == 0 ? 0 : 100.0 * total / counts.reads();
        row("requests", String.format(Locale.ROOT, "%d at the server: %.1f for every 100 reads", total, share));
        byKind.forEach((kind, count) -> row("  " + kind, "" + count));
        facts.put("requestsAtServer", total).put("requestsByKind", byKind);
        return this;
    }

    /** Adds how long a change took to be seen. */
    public Summary withChanges(Map<String, Double> seconds) {
        seconds.forEach(
                (what, after) -> row("seen after", String.format(Locale.ROOT, "%-8s %s", Changes.text(after), what)));
        facts.put("seenAfterSeconds", ImmutableMap.copyOf(seconds));
        return this;
    }

    /** Adds how the strategies compare. */
    public Summary withComparison(Comparison strategies) {
        comparison = NEW_LINE + NEW_LINE + strategies.text();
        facts.put("comparison", strategies.facts());
        return this;
    }

    /** The table, or its facts, under the name {@code summary}. */
    public Event event() {
        StringBuilder table = new StringBuilder(NEW_LINE).append("-- Summary");
        rows.forEach((label, value) -> table.append(NEW_LINE).append(value));
        return new Event("summary", table.append(comparison).toString(), facts.buildOrThrow());
    }

    private void row(String label, String value) {
        rows.put(label + rows.size(), String.format("  %-18s %s", label, value));
    }

    private String part(long count) {
        double percent = counts.reads() == 0 ? 0 : 100.0 * count / counts.reads();
        return String.format(Locale.ROOT, "%-8d %5.1f %%   ", count, percent);
    }
}
