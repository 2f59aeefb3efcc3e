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

    /** What was told of a get that has not ended; told on its own thread. */
    private static final class Get {
        boolean missed;
        boolean stale;
    }

    private final ThreadLocal<Get> underWay = ThreadLocal.withInitial(Get::new);
    private final LongAdder reads = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder stale = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final Map<String, LongAdder> fetches = new ConcurrentHashMap<>();

    /** This thread's get ended, with an object or without. */
    void read(boolean brought) {
        if (!brought) {
            failed.increment();
        }
        count();
    }

    /** This thread's get came too late for its object, which its pod had let go of meanwhile. */
    void overtaken() {
        count();
    }

    @Override
    public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        underWay.get().missed = true;
    }

    @Override
    public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        underWay.get().stale = true;
    }

    @Override
    public void fetched(ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
        String reason = failure == null || failure == FailureReason.NOT_FOUND ? why : why + " " + failure;
        fetches.computeIfAbsent(reason, any -> new LongAdder()).increment();
    }

    /** The counts of gets that have ended, and of fetches that have. */
    Counts counts() {
        ImmutableSortedMap.Builder<String, Long> byReason = ImmutableSortedMap.naturalOrder();
        fetches.forEach((reason, count) -> byReason.put(reason, count.sum()));
        return new Counts(reads.sum(), misses.sum(), stale.sum(), failed.sum(), byReason.build());
    }

    private void count() {
        Get get = underWay.get();
        reads.increment();
        if (get.missed) {
            misses.increment();
        }
        if (get.stale) {
            stale.increment();
        }
        get.missed = false;
        get.stale = false;
    }
}
