package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableSortedMap;
import java.util.stream.Collectors;

/**
 * What the agent's own readers asked for, and what became of it.
 *
 * @param reads gets that were made
 * @param stale of them, those that were answered by what may be out of date: the server could not
 *     be asked, or the watch was lost
 * @param waited of them, those that waited for a request; several may wait for the same one
 * @param failed of them all, those that ended without an object
 * @param fetches ended fetches by their reason
 */
public record Counts(long reads, long stale, long waited, long failed, ImmutableSortedMap<String, Long> fetches) {

    public static final Counts NONE = new Counts(0, 0, 0, 0, ImmutableSortedMap.of());

    /** Reads answered from memory, by what is fresh. */
    long hits() {
        return reads - stale - waited;
    }

    long fetched() {
        return fetches.values().stream().mapToLong(Long::longValue).sum();
    }

    /** What was added since {@code before}. */
    public Counts since(Counts before) {
        ImmutableSortedMap.Builder<String, Long> added = ImmutableSortedMap.naturalOrder();
        fetches.forEach((why, count) -> {
            long more = count - before.fetches.getOrDefault(why, 0L);
            if (more > 0) {
                added.put(why, more);
            }
        });
        return new Counts(
                reads - before.reads,
                stale - before.stale,
                waited - before.waited,
                failed - before.failed,
                added.build());
    }

    /** Such as {@code 24 fetches: expired 20, first read 4}. */
    String fetchesText() {
        if (fetches.isEmpty()) {
            return "no fetch";
        }
        return fetched()
                + (fetched() == 1 ? " fetch: " : " fetches: ")
                + fetches.entrySet().stream()
                        .map(entry -> entry.getKey() + " " + entry.getValue())
                        .collect(Collectors.joining(", "));
    }
}
