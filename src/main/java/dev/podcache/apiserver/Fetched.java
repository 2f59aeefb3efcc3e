package dev.podcache.apiserver;

import java.util.Objects;

/**
 * One object as the API server returned it.
 *
 * @param object the decoded object; shared, so it must not be modified
 * @param resourceVersion the version of the object, or "" if the server sent none
 * @param encodedBytes the size of the object as JSON in the answer, which the payload budget counts
 */
public record Fetched<T>(T object, String resourceVersion, int encodedBytes) {

    public Fetched {
        Objects.requireNonNull(object, "object");
        Objects.requireNonNull(resourceVersion, "resourceVersion");
    }

    /** Returns the version and the size, never the object, which may be a Secret. */
    @Override
    public String toString() {
        return "Fetched[resourceVersion=" + resourceVersion + ", encodedBytes=" + encodedBytes + "]";
    }
}
