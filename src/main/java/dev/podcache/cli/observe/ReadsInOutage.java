package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.output.Event;

/**
 * What became of reads while the server of the demo failed.
 *
 * @param reads those that ended then
 * @param podsKeptWaiting how many pods had readers that still waited at its end
 */
public record ReadsInOutage(Counts reads, int podsKeptWaiting) {

    /** Tells it. */
    public Event event() {
        String waiting = podsKeptWaiting == 0 ? "" : "; the readers of " + podsKeptWaiting + " pods still wait";
        return new Event(
                "outage",
                reads.reads() + " reads while it failed: " + reads.hits() + " fresh, " + reads.stale()
                        + " served stale, " + reads.failed() + " in vain" + waiting,
                facts());
    }

    /** For programs. */
    public ImmutableMap<String, Object> facts() {
        return ImmutableMap.of(
                "reads", reads.reads(),
                "hits", reads.hits(),
                "staleServed", reads.stale(),
                "failed", reads.failed(),
                "podsKeptWaiting", podsKeptWaiting);
    }
}
