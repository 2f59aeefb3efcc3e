package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * One state of one object.
 *
 * @param json with its metadata complete; never modified
 * @param revision its resourceVersion
 */
record StoredObject(ObjectNode json, long revision) {

    /** Takes {@code json} over and writes the version into it. */
    static StoredObject at(long revision, ObjectNode json) {
        Json.object(json, "metadata").put("resourceVersion", Long.toUnsignedString(revision));
        return new StoredObject(json, revision);
    }

    /** Whether nothing but the version differs. */
    boolean sameContent(ObjectNode candidate) {
        ObjectNode mine = json.deepCopy();
        ObjectNode other = candidate.deepCopy();
        Json.object(mine, "metadata").remove("resourceVersion");
        Json.object(other, "metadata").remove("resourceVersion");
        return mine.equals(other);
    }

    /** The version and nothing else: the object may be a Secret. */
    @Override
    public String toString() {
        return "StoredObject[revision=" + revision + "]";
    }
}
