package dev.podcache.agent;

import com.google.common.collect.ImmutableSortedMap;
import java.util.stream.Collectors;

/**
 * What the agent's own readers asked for, and what became of it.
 *
 * @param reads gets that were made
 * @param misses of them, those that found nothing fresh
 * @param stale of them, those that were served an object past its time because asking failed
 * @param failed of them, those that ended without an object
 * @param fetches ended fetches by their reason
 */
record Counts(long reads, long misses, long stale, long failed, ImmutableSortedMap<String, Long> fetches) {

    static final Counts NONE = new Counts(0, 0, 0, 0, ImmutableSortedMap.of());

    /** Reads answered from memory, by a fresh object. */
    long hits() {
        return reads - misses;
    }

    /** Reads that waited for a request; several may wait for the same one. */
    long waited() {
        return misses - stale;
    }

    long fetched() {
        return fetches.values().stream().mapToLong(Long::longValue).sum();
    }

    /** What was added since {@code before}. */
    Counts since(Counts before) {
        ImmutableSortedMap.Builder<String, Long> added = ImmutableSortedMap.naturalOrder();
        fetches.forEach((why, count) -> {
            long more = count - before.fetches.getOrDefault(why, 0L);
            if (more > 0) {
                added.put(why, more);
            }
        });
        return new Counts(
                reads - before.reads,
                misses - before.misses,
                stale - before.stale,
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
