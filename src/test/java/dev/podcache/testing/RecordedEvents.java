package dev.podcache.testing;

import com.google.common.collect.ImmutableList;
import dev.podcache.kubelet.events.EventRecorder;
import io.fabric8.kubernetes.api.model.ObjectReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** An {@link EventRecorder} that records events for assertions. Thread-safe. */
public final class RecordedEvents implements EventRecorder {

    private final List<Recorded> events = new CopyOnWriteArrayList<>();

    /** A recorded event. */
    public record Recorded(ObjectReference about, EventType type, String reason, String message) {}

    @Override
    public void event(ObjectReference about, EventType type, String reason, String message) {
        events.add(new Recorded(about, type, reason, message));
    }

    /** Returns the events so far, in order. */
    public ImmutableList<Recorded> events() {
        return ImmutableList.copyOf(events);
    }

    /** Returns the events as {@code Type Reason Message}, the format of the fake recorder in client-go. */
    public ImmutableList<String> lines() {
        return events.stream()
                .map(event -> event.type() + " " + event.reason() + " " + event.message())
                .collect(ImmutableList.toImmutableList());
    }
}
