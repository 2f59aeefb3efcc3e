package dev.podcache.kubelet.events;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ObjectReference;
import org.jspecify.annotations.Nullable;

/** Keys that group events: by source and object, by everything but the message, and by identical content. */
final class EventKeys {

    private EventKeys() {}

    /** The component that reports, and the object that it reports about. */
    record Source(
            @Nullable String component,
            @Nullable String host,
            @Nullable String kind,
            @Nullable String namespace,
            @Nullable String name,
            @Nullable String uid,
            @Nullable String apiVersion) {}

    /** The key of events that differ only in their message. */
    record Similar(
            Source source, @Nullable String type, @Nullable String reason) {}

    /** The key of repetitions of one event. Events about different containers of a pod are different. */
    record Same(
            Similar similar,
            @Nullable String fieldPath,
            @Nullable String message) {}

    static Source source(Event event) {
        ObjectReference about = event.getInvolvedObject();
        return new Source(
                event.getSource().getComponent(),
                event.getSource().getHost(),
                about.getKind(),
                about.getNamespace(),
                about.getName(),
                about.getUid(),
                about.getApiVersion());
    }

    static Similar similar(Event event) {
        return new Similar(source(event), event.getType(), event.getReason());
    }

    static Same same(Event event) {
        return new Same(similar(event), event.getInvolvedObject().getFieldPath(), event.getMessage());
    }
}
