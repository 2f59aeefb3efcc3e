package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * One state of an object.
 *
 * @param json the object with complete metadata; never modified
 * @param revision its resourceVersion
 */
record StoredObject(ObjectNode json, long revision) {

    /**
     * Creates a state from {@code json}, and sets its resourceVersion. The caller must not modify {@code json}
     * afterwards.
     */
    static StoredObject at(long revision, ObjectNode json) {
        Json.object(json, "metadata").put("resourceVersion", Long.toUnsignedString(revision));
        return new StoredObject(json, revision);
    }

    /** Returns whether {@code candidate} is equal apart from the resourceVersion. */
    boolean sameContent(ObjectNode candidate) {
        ObjectNode mine = json.deepCopy();
        ObjectNode other = candidate.deepCopy();
        Json.object(mine, "metadata").remove("resourceVersion");
        Json.object(other, "metadata").remove("resourceVersion");
        return mine.equals(other);
    }

    /** Returns the version only, because the object may be a Secret. */
    @Override
    public String toString() {
        return "StoredObject[revision=" + revision + "]";
    }
}
