package dev.podcache.kubelet.events;

import io.fabric8.kubernetes.api.model.ObjectReference;

/**
 * Where to say what people should see in {@code kubectl describe} and {@code kubectl get events}. Thread-safe.
 *
 * <p>Recording returns at once, never throws, and may lose an event: nothing may depend on one having been written.
 */
@FunctionalInterface
public interface EventRecorder {

    /** What an event says about its object. */
    enum EventType {
        NORMAL("Normal"),
        WARNING("Warning");

        private final String text;

        EventType(String text) {
            this.text = text;
        }

        /** As it is written in an event, such as {@code Normal}. */
        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * Records an event.
     *
     * @param about the object it is about, with the field path of a container if it is about one
     * @param reason for machines, in CamelCase, such as {@code NodeReady}
     * @param message for people; never any content of a Secret
     */
    void event(ObjectReference about, EventType type, String reason, String message);
}
