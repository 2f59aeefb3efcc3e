package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * One event of a watch.
 *
 * @param object the object, the bookmark, or the Status of an ERROR; shared and never to be modified
 */
public record ClusterEvent(Type type, ObjectNode object) {

    /** As a server writes it. */
    public enum Type {
        ADDED,
        MODIFIED,
        DELETED,
        BOOKMARK,
        /** The watch ends after it. */
        ERROR
    }

    static ClusterEvent error(StatusException refusal) {
        return new ClusterEvent(Type.ERROR, Json.tree(refusal.status()));
    }

    /** The type and nothing else: the object may be a Secret. */
    @Override
    public String toString() {
        return "ClusterEvent[" + type + "]";
    }
}
