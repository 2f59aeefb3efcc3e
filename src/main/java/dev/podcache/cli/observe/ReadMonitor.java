package dev.podcache.cli.observe;

import com.google.common.collect.ConcurrentHashMultiset;
import com.google.common.collect.ImmutableMultiset;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Counts the reads of an agent and the fetches of its caches. Thread-safe. */
final class ReadMonitor implements PodcacheMetrics {

    /** A get found no object in memory; whether it is known that there is none is not decided yet. */
    private static final String UNDECIDED = "undecided";

    /** The result of the get of this thread, so far. Its metrics come on its thread. */
    private final ThreadLocal<String> result = ThreadLocal.withInitial(() -> ReadCounts.HITS);

    private final ConcurrentHashMultiset<String> results = ConcurrentHashMultiset.create();
    private final ConcurrentHashMultiset<String> fetches = ConcurrentHashMultiset.create();
    private final WatchMonitor watches;

    ReadMonitor(WatchMonitor watches) {
        this.watches = watches;
    }

    /** Counts the get of this thread, which returned. */
    void ended(ObjectId id, boolean found) {
        // under WATCH, what is known is served without a metric, whether or not the watch is live
        if (result.get().equals(ReadCounts.HITS) && watches.isLost(id)) {
            result.set(ReadCounts.STALE);
        }
        if (result.get().equals(UNDECIDED)) {
            // a get that found the object nevertheless has waited for its watch, which was closed as idle
            result.set(found ? ReadCounts.WAITED : ReadCounts.HITS);
        }
        if (!found) {
            results.add(ReadCounts.FAILED);
        }
        released();
    }

    /** Counts the get of this thread, whose object was released while it ran. */
    void released() {
        results.add(result.get().equals(UNDECIDED) ? ReadCounts.HITS : result.get());
        discard();
    }

    /** Does not count the get of this thread. */
    void discard() {
        result.remove();
    }

    @Override
    public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        // under WATCH, the absence of an object is known from memory, too
        result.set(watches.isKnown(new ObjectId(kind, key)) ? UNDECIDED : ReadCounts.WAITED);
    }

    @Override
    public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        result.set(ReadCounts.STALE);
    }

    @Override
    public void fetched(ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
        fetches.add(failure == null || failure == FailureReason.NOT_FOUND ? why : why + " " + failure);
    }

    @Override
    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
        watches.failed(new ObjectId(kind, key), failure);
    }

    @Override
    public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
        watches.synced(new ObjectId(kind, key));
    }

    /** Returns the counts of ended gets and fetches. */
    ReadCounts counts() {
        return new ReadCounts(ImmutableMultiset.copyOf(results), ImmutableMultiset.copyOf(fetches));
    }
}
