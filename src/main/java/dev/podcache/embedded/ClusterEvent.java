package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * An event of a watch.
 *
 * @param object the object, the bookmark, or the Status of an ERROR; shared, so callers must not modify it
 */
public record ClusterEvent(ChangeType type, ObjectNode object) {

    /** The type of an event, spelled as in the {@code type} field of a Kubernetes watch event. */
    public enum ChangeType {
        ADDED,
        MODIFIED,
        DELETED,
        BOOKMARK,
        /** The watch failed; no event follows. */
        ERROR
    }

    /** Returns an ERROR event with the Status of {@code refusal}. */
    static ClusterEvent error(StatusException refusal) {
        return new ClusterEvent(ChangeType.ERROR, Json.tree(refusal.status()));
    }

    /** Returns the type only, because the object may be a Secret. */
    @Override
    public String toString() {
        return "ClusterEvent[" + type + "]";
    }
}
