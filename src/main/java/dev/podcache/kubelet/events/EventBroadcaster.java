package dev.podcache.kubelet.events;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.EventSource;
import io.fabric8.kubernetes.api.model.EventSourceBuilder;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes events to the API server, one at a time, as client-go's broadcaster does. Repetitions of an event increase its
 * count. From the tenth event on, events that differ only in their message are combined into one, until ten minutes
 * pass without any. After 25 events about one object, only one every five minutes is written. Thread-safe.
 *
 * <p>Recording never blocks and never throws. While the server cannot be reached, each event is tried twelve times, ten
 * seconds apart, and up to 1000 others wait. Events beyond that are lost.
 */
public final class EventBroadcaster implements EventRecorder, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(EventBroadcaster.class);

    private final EventSource source;
    private final Timekeeper timekeeper;
    private final EventNames names;
    private final EventSink sink;

    /**
     * Creates a recorder.
     *
     * @param random uniform in [0, 1)
     */
    EventBroadcaster(ObjectApi<Event> events, EventSource source, Timekeeper timekeeper, DoubleSupplier random) {
        this.source = source;
        this.timekeeper = timekeeper;
        this.names = new EventNames(timekeeper);
        this.sink = new EventSink(events, new EventCorrelator(timekeeper, names), timekeeper, random);
    }

    /**
     * Creates a recorder.
     *
     * @param events not closed by this object
     * @param component the name of the component that reports, such as {@code kubelet}
     * @param host the node that the component runs on
     */
    public static EventBroadcaster to(ObjectApi<Event> events, String component, String host, Timekeeper timekeeper) {
        EventSource source =
                new EventSourceBuilder().withComponent(component).withHost(host).build();
        return new EventBroadcaster(
                events, source, timekeeper, () -> ThreadLocalRandom.current().nextDouble());
    }

    @Override
    public void event(ObjectReference about, EventType type, String reason, String message) {
        annotated(Map.of()).event(about, type, reason, message);
    }

    @Override
    public EventRecorder annotated(Map<String, String> annotations) {
        return (about, type, reason, message) -> {
            try {
                sink.add(event(about, type, annotations)
                        .withReason(reason)
                        .withMessage(message)
                        .build());
            } catch (RuntimeException e) {
                log.error(
                        "event {} about {} {} was not recorded; it is lost",
                        reason,
                        about.getKind(),
                        about.getName(),
                        e);
            }
        };
    }

    /** Drops the events that are not written yet, and all events recorded later. Returns at once. Idempotent. */
    @Override
    public void close() {
        sink.close();
    }

    private EventBuilder event(ObjectReference about, EventType type, Map<String, String> annotations) {
        String namespace =
                about.getNamespace() == null || about.getNamespace().isEmpty() ? "default" : about.getNamespace();
        String now = ApiTime.of(timekeeper.wallTime());
        return new EventBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(names.next(about.getName()))
                .withAnnotations(annotations.isEmpty() ? null : annotations)
                .endMetadata()
                .withInvolvedObject(new ObjectReferenceBuilder(about).build())
                .withType(type.toString())
                .withSource(source)
                .withReportingComponent(source.getComponent())
                .withReportingInstance(source.getHost())
                .withFirstTimestamp(now)
                .withLastTimestamp(now)
                .withCount(1);
    }
}
