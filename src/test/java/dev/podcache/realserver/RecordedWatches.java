package dev.podcache.realserver;

import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** What was told of watches. Thread-safe. */
final class RecordedWatches implements PodcacheMetrics {

    private final Queue<FailedWatch> failures = new ConcurrentLinkedQueue<>();
    private final AtomicInteger synced = new AtomicInteger();

    private record FailedWatch(String name, FailureReason reason) {}

    @Override
    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
        failures.add(new FailedWatch(key.name(), failure));
    }

    @Override
    public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
        synced.incrementAndGet();
    }

    /** Whether an attempt to watch the object of that name failed in that way. */
    boolean failed(String name, FailureReason reason) {
        return failures.contains(new FailedWatch(name, reason));
    }

    /** Whether any attempt to watch the object of that name failed. */
    boolean failed(String name) {
        return failures.stream().anyMatch(failure -> failure.name().equals(name));
    }

    /** How often a watch came to be, or came back. */
    int synced() {
        return synced.get();
    }
}
