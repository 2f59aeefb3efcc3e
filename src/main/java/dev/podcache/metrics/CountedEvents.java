package dev.podcache.metrics;

import dev.podcache.object.FailureReason;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Counts the events of one cache, and forwards them to a listener whose exceptions it catches. Thread-safe: the counters
 * are striped, and no method blocks.
 *
 * @hidden
 */
@NotApi
public final class CountedEvents implements PodcacheMetrics {

    private static final Logger log = LoggerFactory.getLogger(PodcacheMetrics.class);

    private final PodcacheMetrics listener;
    private final AtomicBoolean warned = new AtomicBoolean();
    private final LongAdder misses = new LongAdder();
    private final LongAdder staleServed = new LongAdder();
    private final LongAdder answered = new LongAdder();
    private final Map<FailureReason, LongAdder> fetchFailures = adders();
    private final Map<FailureReason, LongAdder> watchFailures = adders();

    /** Makes counters that start at zero. Events are forwarded to {@code listener}. */
    public CountedEvents(PodcacheMetrics listener) {
        this.listener = listener;
    }

    /** Returns {@code listener} if it counts already, so that its exceptions are caught, or new counters before it. */
    public static CountedEvents of(PodcacheMetrics listener) {
        return listener instanceof CountedEvents counted ? counted : new CountedEvents(listener);
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
        forward(() -> listener.missed(kind, key, strategy));
    }

    @Override
    public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
        staleServed.increment();
        forward(() -> listener.staleServed(kind, key, strategy));
    }

    @Override
    public void fetched(ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
        if (failure == null) {
            answered.increment();
        } else {
            increment(fetchFailures, failure);
        }
        forward(() -> listener.fetched(kind, key, why, failure, took));
    }

    @Override
    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
        increment(watchFailures, failure);
        forward(() -> listener.watchFailed(kind, key, failure));
    }

    @Override
    public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
        forward(() -> listener.watchSynced(kind, key, took));
    }

    private void forward(Runnable call) {
        try {
            call.run();
        } catch (Throwable e) {
            // An Error too, such as a NoClassDefFoundError in a listener: it must not end a watch. One warning, because
            // a listener that always throws would fill the log at the rate of the gets.
            log.atLevel(warned.compareAndSet(false, true) ? Level.WARN : Level.DEBUG)
                    .setCause(e)
                    .log("metrics listener {} threw; its further exceptions are logged at DEBUG", listener.getClass());
        }
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
