package dev.podcache.kubelet.events;

import dev.podcache.time.Timekeeper;
import dev.podcache.time.TokenBucket;
import io.fabric8.kubernetes.api.model.Event;
import java.time.Duration;

/**
 * Limits the events from one source about one object: 25 at once, then one every five minutes. After client-go's
 * EventSourceObjectSpamFilter. Not thread-safe.
 */
final class EventSpamFilter {

    private static final int BURST = 25;
    private static final double PER_SECOND = 1.0 / Duration.ofMinutes(5).toSeconds();

    private final Timekeeper timekeeper;
    private final RecentlyUsed<EventKeys.Source, TokenBucket> buckets = new RecentlyUsed<>();

    EventSpamFilter(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** Returns whether {@code event} is within the limit, and counts it if it is. */
    boolean pass(Event event) {
        return buckets.computeIfAbsent(
                        EventKeys.source(event), source -> new TokenBucket(PER_SECOND, BURST, timekeeper))
                .take(Duration.ZERO)
                .isPresent();
    }
}
