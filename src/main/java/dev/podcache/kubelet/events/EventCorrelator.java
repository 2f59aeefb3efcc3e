package dev.podcache.kubelet.events;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides what becomes of each event: a new one, a change of one written before, or nothing. After client-go's
 * EventCorrelator. For one caller at a time.
 */
final class EventCorrelator {

    private final EventAggregator aggregator;
    private final EventSpamFilter filter;
    private final RecentlyUsed<Object, Observed> observations = new RecentlyUsed<>();

    EventCorrelator(Timekeeper timekeeper, EventNames names) {
        this.aggregator = new EventAggregator(timekeeper, names);
        this.filter = new EventSpamFilter(timekeeper);
    }

    /** What is known of an event that was written. */
    private record Observed(
            int count, String name, @Nullable String firstTimestamp) {}

    /**
     * What to write.
     *
     * @param event whole, to be created
     * @param patch a strategic merge patch of it if it has been written before, else null
     */
    record Correlated(Event event, @Nullable String patch, Object key) {}

    /** What to write for {@code event}; empty if it is dropped. */
    Optional<Correlated> correlate(Event event) {
        EventAggregator.Aggregated aggregated = aggregator.aggregate(event);
        Observed before = observations.get(aggregated.key());
        Event counted = before == null ? aggregated.event() : repeated(aggregated.event(), before);
        observe(aggregated.key(), counted);
        if (!filter.pass(counted)) {
            return Optional.empty();
        }
        return Optional.of(new Correlated(counted, before == null ? null : patch(counted), aggregated.key()));
    }

    /** {@code written} is what the server has now. */
    void written(Object key, Event written) {
        observe(key, written);
    }

    private void observe(Object key, Event event) {
        // a webhook may have taken the count away
        int count = Objects.requireNonNullElse(event.getCount(), 1);
        observations.put(key, new Observed(count, event.getMetadata().getName(), event.getFirstTimestamp()));
    }

    private static Event repeated(Event event, Observed before) {
        return new EventBuilder(event)
                .editMetadata()
                .withName(before.name)
                .endMetadata()
                .withFirstTimestamp(before.firstTimestamp)
                .withCount(before.count + 1)
                .build();
    }

    private static String patch(Event event) {
        ObjectNode patch = JsonNodeFactory.instance.objectNode();
        patch.put("count", event.getCount());
        patch.put("lastTimestamp", event.getLastTimestamp());
        patch.put("message", event.getMessage());
        return patch.toString();
    }
}
