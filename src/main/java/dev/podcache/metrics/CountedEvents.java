package dev.podcache.metrics;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts the events of one cache, and forwards them to a listener whose exceptions are caught. Thread-safe: the
 * counters are striped, and no method blocks.
 */
public final class CountedEvents implements PodcacheMetrics {

    private final PodcacheMetrics listener;
    private final LongAdder misses = new LongAdder();
    private final LongAdder staleServed = new LongAdder();
    private final LongAdder answered = new LongAdder();
    private final Map<FailureReason, LongAdder> fetchFailures = adders();
    private final Map<FailureReason, LongAdder> watchFailures = adders();

    /** Makes counters that start at zero. Events are forwarded to {@code listener}. */
    public CountedEvents(PodcacheMetrics listener) {
        this.listener = PodcacheMetrics.guarded(listener);
    }

    private static Map<FailureReason, LongAdder> adders() {
        Map<FailureReason, LongAdder> adders = new EnumMap<>(FailureReason.class);
        for (FailureReason reason : FailureReason.values()) {
            adders.put(reason, new LongAdder());
        }
        return Collections.unmodifiableMap(adders);
    }

    @Override
    public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        misses.increment();
        listener.missed(kind, key, strategy);
    }

    @Override
    public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        staleServed.increment();
        listener.staleServed(kind, key, strategy);
    }

    @Override
    public void fetched(ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
        if (failure == null) {
            answered.increment();
        } else {
            increment(fetchFailures, failure);
        }
        listener.fetched(kind, key, why, failure, took);
    }

    @Override
    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
        increment(watchFailures, failure);
        listener.watchFailed(kind, key, failure);
    }

    @Override
    public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
        listener.watchSynced(kind, key, took);
    }

    /** Returns how often {@link #missed} was called. */
    public long misses() {
        return misses.sum();
    }

    /** Returns how often {@link #staleServed} was called. */
    public long stale() {
        return staleServed.sum();
    }

    /** Returns how many fetches ended with an object. */
    public long answered() {
        return answered.sum();
    }

    /** Returns how many fetches ended without an object, by each reason; zeros too. */
    public Map<FailureReason, Long> fetchFailures() {
        return sums(fetchFailures);
    }

    /** Returns how often {@link #watchFailed} was called, by each reason; zeros too. */
    public Map<FailureReason, Long> watchFailures() {
        return sums(watchFailures);
    }

    private static void increment(Map<FailureReason, LongAdder> adders, FailureReason reason) {
        LongAdder adder = adders.get(reason);
        if (adder != null) {
            adder.increment();
        }
    }

    private static Map<FailureReason, Long> sums(Map<FailureReason, LongAdder> adders) {
        Map<FailureReason, Long> sums = new EnumMap<>(FailureReason.class);
        adders.forEach((reason, adder) -> sums.put(reason, adder.sum()));
        return Collections.unmodifiableMap(sums);
    }
}
