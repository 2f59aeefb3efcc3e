package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
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
        boolean waits;
        boolean stale;
    }

    private final ThreadLocal<Get> underWay = ThreadLocal.withInitial(Get::new);
    private final LongAdder reads = new LongAdder();
    private final LongAdder stale = new LongAdder();
    private final LongAdder waited = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final Map<String, LongAdder> fetches = new ConcurrentHashMap<>();
    private final Watched watched;

    /**
     * Nothing counted yet.
     *
     * @param watched told about watches
     */
    ReadCounter(Watched watched) {
        this.watched = watched;
    }

    /** This thread's get ended, with an object or without. */
    void read(ObjectKind<?> kind, ObjectKey key, boolean brought) {
        Get get = underWay.get();
        // a cache that watches serves what it knows without a word, whether or not the watch is live
        get.stale |= !get.waits && watched.isLost(kind, key);
        if (!brought) {
            failed.increment();
        }
        count(get);
    }

    /** This thread's get came too late for its object, which its pod had let go of meanwhile. */
    void overtaken() {
        count(underWay.get());
    }

    /** This thread's get is not to be counted. */
    void discard() {
        underWay.remove();
    }

    @Override
    public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        // under WATCH, that an object is missing is known from memory, too
        underWay.get().waits = !watched.isKnown(kind, key);
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

    @Override
    public void changed(ObjectKind<?> kind, ObjectKey key, CacheState from, CacheState to, String cause) {
        if (cause.equals("idle")) {
            watched.idle(kind, key);
        }
    }

    @Override
    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
        watched.failed(kind, key, failure);
    }

    @Override
    public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
        watched.synced(kind, key, took);
    }

    /** The counts of gets that have ended, and of fetches that have. */
    Counts counts() {
        ImmutableSortedMap.Builder<String, Long> byReason = ImmutableSortedMap.naturalOrder();
        fetches.forEach((reason, count) -> byReason.put(reason, count.sum()));
        return new Counts(reads.sum(), stale.sum(), waited.sum(), failed.sum(), byReason.build());
    }

    private void count(Get get) {
        reads.increment();
        if (get.stale) {
            stale.increment();
        } else if (get.waits) {
            waited.increment();
        }
        discard();
    }
}
