package dev.podcache.apiserver;

import java.util.Objects;

/**
 * The result of a read.
 *
 * @param object the decoded object; shared from here on and never to be modified
 * @param resourceVersion its version, or "" if the server gave none
 * @param encodedBytes how long the object was on the wire, which is what the payload budget counts
 */
public record Fetched<T>(T object, String resourceVersion, int encodedBytes) {

    public Fetched {
        Objects.requireNonNull(object, "object");
        Objects.requireNonNull(resourceVersion, "resourceVersion");
    }

    /** The version and the size, never the object: it may be a Secret. */
    @Override
    public String toString() {
        return "Fetched[resourceVersion=" + resourceVersion + ", encodedBytes=" + encodedBytes + "]";
    }
}
