package dev.podcache.agent;

import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts what the agent reads and what the caches tell of it. Thread-safe. */
final class ReadCounter implements PodcacheMetrics {

    private final LongAdder reads = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder stale = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final Map<String, LongAdder> fetches = new ConcurrentHashMap<>();

    /** A get ended, with an object or without. */
    void read(boolean brought) {
        reads.increment();
        if (!brought) {
            failed.increment();
        }
    }

    /** A get came too late for its object, which its pod had let go of meanwhile. */
    void overtaken() {
        reads.increment();
    }

    @Override
    public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        misses.increment();
    }

    @Override
    public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        stale.increment();
    }

    @Override
    public void fetched(ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
        String reason = failure == null || failure == FailureReason.NOT_FOUND ? why : why + " " + failure;
        fetches.computeIfAbsent(reason, any -> new LongAdder()).increment();
    }

    /** The counts so far; of a get under way, the miss may be counted already and the read not yet. */
    Counts counts() {
        ImmutableSortedMap.Builder<String, Long> byReason = ImmutableSortedMap.naturalOrder();
        fetches.forEach((reason, count) -> byReason.put(reason, count.sum()));
        return new Counts(reads.sum(), misses.sum(), stale.sum(), failed.sum(), byReason.build());
    }
}
