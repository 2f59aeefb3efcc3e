package dev.podcache.kubelet.events;

import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Event;
import java.time.Duration;

/**
 * Lets so many events through for one source and object: 25 at once, then one every five minutes. After client-go's
 * EventSourceObjectSpamFilter. For one caller at a time.
 */
final class EventSpamFilter {

    private static final int BURST = 25;
    private static final Duration REFILL = Duration.ofMinutes(5);

    private final Timekeeper timekeeper;
    private final RecentlyUsed<EventKeys.Source, Bucket> buckets = new RecentlyUsed<>();

    EventSpamFilter(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** Kept as the time at which it would be full again: each token moves that one interval on. */
    private static final class Bucket {
        private long fullAt; // nanoseconds
    }

    /** Takes a token; false if there is none, and {@code event} is to be dropped. */
    boolean pass(Event event) {
        long now = timekeeper.nanoTime();
        Bucket bucket = buckets.computeIfAbsent(EventKeys.source(event), source -> {
            Bucket full = new Bucket();
            full.fullAt = now;
            return full;
        });
        long base = bucket.fullAt - now > 0 ? bucket.fullAt : now;
        if (base - now > REFILL.toNanos() * (BURST - 1)) {
            return false;
        }
        bucket.fullAt = base + REFILL.toNanos();
        return true;
    }
}
