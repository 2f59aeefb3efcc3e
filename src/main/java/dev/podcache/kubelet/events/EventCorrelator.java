package dev.podcache.kubelet.events;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.primitives.Ints;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides for each event whether it is created, counted in an event written before, or dropped. After client-go's
 * EventCorrelator. Not thread-safe.
 */
final class EventCorrelator {

    private final EventAggregator aggregator;
    private final EventSpamFilter filter;
    private final RecentlyUsed<Object, Observed> observations = new RecentlyUsed<>();

    EventCorrelator(Timekeeper timekeeper, EventNames names) {
        this.aggregator = new EventAggregator(timekeeper, names);
        this.filter = new EventSpamFilter(timekeeper);
    }

    /** The last known state of a written event. */
    private record Observed(
            int count, String name, @Nullable String firstTimestamp) {}

    /**
     * The request to make for an event.
     *
     * @param event the complete event, to be created
     * @param patch the strategic merge patch that counts it, if it was written before; otherwise null
     * @param key equal for repetitions of one event
     */
    record Correlated(Event event, @Nullable String patch, Object key) {}

    /** Returns the request to make for {@code event}; empty if the event is dropped. */
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

    /** Records {@code written}, the event as the server returned it. */
    void written(Object key, Event written) {
        observe(key, written);
    }

    private void observe(Object key, Event event) {
        // a webhook may have removed the count
        int count = Objects.requireNonNullElse(event.getCount(), 1);
        observations.put(key, new Observed(count, event.getMetadata().getName(), event.getFirstTimestamp()));
    }

    private static Event repeated(Event event, Observed before) {
        return new EventBuilder(event)
                .editMetadata()
                .withName(before.name)
                .endMetadata()
                .withFirstTimestamp(before.firstTimestamp)
                .withCount(Ints.saturatedCast(before.count + 1L))
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
