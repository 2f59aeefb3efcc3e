package dev.podcache.kubelet.events;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ObjectReference;
import org.jspecify.annotations.Nullable;

/** Which events belong together, from all of one source and object down to repetitions of the same one. */
final class EventKeys {

    private EventKeys() {}

    /** Who tells about whom. */
    record Source(
            @Nullable String component,
            @Nullable String host,
            @Nullable String kind,
            @Nullable String namespace,
            @Nullable String name,
            @Nullable String uid,
            @Nullable String apiVersion) {}

    /** Events that differ in their message only. */
    record Similar(
            Source source, @Nullable String type, @Nullable String reason) {}

    /** Events that say the same; those about different containers of a pod do not. */
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
