package dev.podcache.kubelet.events;

import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * Combines events that differ only in their message: from the tenth message on, they become one event. Starts again
 * after ten minutes without such an event. After client-go's EventAggregator. Not thread-safe.
 */
final class EventAggregator {

    private static final int MAX_MESSAGES = 10;
    private static final Duration EXPIRY = Duration.ofMinutes(10);
    private static final String PREFIX = "(combined from similar events): ";

    private final Timekeeper timekeeper;
    private final EventNames names;
    private final RecentlyUsed<EventKeys.Similar, Messages> recent = new RecentlyUsed<>();

    EventAggregator(Timekeeper timekeeper, EventNames names) {
        this.timekeeper = timekeeper;
        this.names = names;
    }

    private static final class Messages {
        private final Set<String> seen = new HashSet<>();
        private long lastAt; // nanoseconds
    }

    /**
     * The event to write instead of a recorded one.
     *
     * @param key equal for repetitions of one event
     */
    record Aggregated(Event event, Object key) {}

    Aggregated aggregate(Event event) {
        long now = timekeeper.nanoTime();
        EventKeys.Similar key = EventKeys.similar(event);
        Messages messages = recent.get(key);
        if (messages == null || now - messages.lastAt > EXPIRY.toNanos()) {
            messages = new Messages();
            recent.put(key, messages);
        }
        messages.lastAt = now;
        if (messages.seen.contains(event.getMessage()) || messages.seen.size() < MAX_MESSAGES - 1) {
            messages.seen.add(event.getMessage());
            return new Aggregated(event, EventKeys.same(event));
        }
        Event combined = new EventBuilder(event)
                .editMetadata()
                .withName(names.next(event.getInvolvedObject().getName()))
                .endMetadata()
                .withMessage(PREFIX + event.getMessage())
                .build();
        return new Aggregated(combined, key);
    }
}
