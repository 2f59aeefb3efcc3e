package dev.podcache.kubelet.events;

import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/**
 * Turns many events that differ in their message only into one: from the tenth message on, unless ten minutes pass
 * without any. After client-go's EventAggregator. For one caller at a time.
 */
final class EventAggregator {

    private static final int MOST_MESSAGES = 10;
    private static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(10);
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
     * What is to be written instead of an event.
     *
     * @param key events of the same key are repetitions of one
     */
    record Aggregated(Event event, Object key) {}

    Aggregated aggregate(Event event) {
        long now = timekeeper.nanoTime();
        EventKeys.Similar key = EventKeys.similar(event);
        Messages messages = recent.get(key);
        if (messages == null || now - messages.lastAt > FORGOTTEN_AFTER.toNanos()) {
            messages = new Messages();
            recent.put(key, messages);
        }
        messages.lastAt = now;
        if (messages.seen.contains(event.getMessage()) || messages.seen.size() < MOST_MESSAGES - 1) {
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
