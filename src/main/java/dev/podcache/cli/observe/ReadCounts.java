package dev.podcache.cli.observe;

import com.google.common.base.Joiner;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableMultiset;
import com.google.common.collect.Multiset;
import com.google.common.collect.Multisets;
import java.util.Locale;

/**
 * The reads of an agent and their results.
 *
 * @param results of each read {@link #HITS}, {@link #STALE} or {@link #WAITED}; and {@link #FAILED} if it returned no
 *     object
 * @param fetches the causes of ended fetches
 */
public record ReadCounts(ImmutableMultiset<String> results, ImmutableMultiset<String> fetches) {

    /** Answered from memory, up to date. */
    static final String HITS = "hits";

    /** Answered from memory, maybe out of date. */
    static final String STALE = "staleServed";

    /** Waited for a request. Several reads may wait for the same request. */
    static final String WAITED = "waited";

    static final String FAILED = "failed";

    public static final ReadCounts NONE = new ReadCounts(ImmutableMultiset.of(), ImmutableMultiset.of());

    public int reads() {
        return results.size() - results.count(FAILED);
    }

    /** Returns what was counted after {@code before}. */
    public ReadCounts since(ReadCounts before) {
        return new ReadCounts(
                ImmutableMultiset.copyOf(Multisets.difference(results, before.results)),
                ImmutableMultiset.copyOf(Multisets.difference(fetches, before.fetches)));
    }

    /** Returns the counts as the text of an event. */
    public String text() {
        return String.format(
                        Locale.ROOT,
                        "%-5d hits %-5d stale %-5d waited %-5d failed %d",
                        reads(),
                        results.count(HITS),
                        results.count(STALE),
                        results.count(WAITED),
                        results.count(FAILED))
                + (fetches.isEmpty() ? "" : ", fetches " + Joiner.on(", ").join(fetches.entrySet()));
    }

    /** Returns the counts as facts of an event. */
    public ImmutableMap<String, Object> facts() {
        return ImmutableMap.<String, Object>builder()
                .put("reads", reads())
                .put(HITS, results.count(HITS))
                .put(STALE, results.count(STALE))
                .put(WAITED, results.count(WAITED))
                .put(FAILED, results.count(FAILED))
                .put("fetches", fetches.size())
                .put(
                        "fetchesByReason",
                        fetches.entrySet().stream()
                                .collect(ImmutableMap.toImmutableMap(
                                        Multiset.Entry::getElement, Multiset.Entry::getCount)))
                .buildOrThrow();
    }
}
