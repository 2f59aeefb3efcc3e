package dev.podcache.kubelet.events;

import io.fabric8.kubernetes.api.model.ObjectReference;
import java.util.Map;

/**
 * Records events, which {@code kubectl describe} and {@code kubectl get events} show. Thread-safe.
 *
 * <p>Recording returns at once, never throws, and may lose an event: no caller may depend on an event being written.
 */
@FunctionalInterface
public interface EventRecorder {

    /** The type of an event. */
    enum EventType {
        NORMAL("Normal"),
        WARNING("Warning");

        private final String text;

        EventType(String text) {
            this.text = text;
        }

        /** Returns the type as the API has it, such as {@code Normal}. */
        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * Records an event.
     *
     * @param about the object that the event is about; with a field path if it is about one container
     * @param reason a word in CamelCase for programs, such as {@code NodeReady}
     * @param message a text for people; must never contain data of a Secret
     */
    void event(ObjectReference about, EventType type, String reason, String message);

    /** Returns a recorder whose events have these annotations. By default, they are left out. */
    default EventRecorder annotated(Map<String, String> annotations) {
        return this;
    }
}
