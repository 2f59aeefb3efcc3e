package dev.podcache.cli.observe;

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKind;
import java.util.Locale;

/** The last event of a command: a table with the totals. */
public final class Summary {

    private final StringBuilder table = new StringBuilder();
    private final ImmutableMap.Builder<String, Object> facts = ImmutableMap.builder();

    Summary(
            ChangeDetectionStrategy strategy,
            ReferencedObjects objects,
            ReadCounts counts,
            ImmutableMap<String, Long> watches) {
        long secrets = objects.count(ObjectKind.SECRET);
        long configMaps = objects.count(ObjectKind.CONFIG_MAP);
        table.append(System.lineSeparator()).append("-- Summary");
        row("strategy", strategy.name());
        row("pods", "" + objects.pods());
        row("objects", secrets + " Secrets, " + configMaps + " ConfigMaps");
        row("references", objects.references() + " (pairs of a pod and an object that it refers to)");
        row("reads", "" + counts.reads());
        row("  hits", share(counts, ReadCounts.HITS) + "answered from memory, up to date");
        row("  stale", share(counts, ReadCounts.STALE) + "answered from memory, may be out of date");
        row("  waited", share(counts, ReadCounts.WAITED) + "waited for a request to the API server");
        row("  failed", share(counts, ReadCounts.FAILED) + "of all reads returned no object");
        if (!counts.fetches().isEmpty()) {
            row("fetches", Joiner.on(", ").join(counts.fetches().entrySet()));
        }
        if (strategy == ChangeDetectionStrategy.WATCH) {
            row("watches", Joiner.on(", ").withKeyValueSeparator(" ").join(watches));
        }
        facts.put("strategy", strategy.name())
                .put("pods", objects.pods())
                .put("objects", objects.objects().size())
                .put("secrets", secrets)
                .put("configMaps", configMaps)
                .put("references", objects.references())
                .putAll(counts.facts())
                .put("watches", watches);
    }

    /** Adds a fact. */
    public Summary with(String fact, Object value) {
        facts.put(fact, value);
        return this;
    }

    /** Adds lines of text after the table. */
    public Summary append(String text) {
        table.append(text);
        return this;
    }

    /** Returns the event {@code summary}. */
    public ProgramEvent event() {
        return new ProgramEvent("summary", table.toString(), facts.buildOrThrow());
    }

    private void row(String label, String value) {
        table.append(System.lineSeparator()).append(String.format("  %-18s %s", label, value));
    }

    private static String share(ReadCounts counts, String result) {
        int count = counts.results().count(result);
        return String.format(Locale.ROOT, "%-8d %5.1f %%   ", count, 100.0 * count / Math.max(1, counts.reads()));
    }
}
