package dev.podcache.embedded;

import org.jspecify.annotations.Nullable;

/**
 * How to delete.
 *
 * @param gracePeriodSeconds for pods: 0 removes at once, null takes the pod's own period
 * @param uid deletes only the object with it, or null
 * @param resourceVersion deletes only the object at it, or null
 */
public record DeleteOptions(
        @Nullable Long gracePeriodSeconds,
        @Nullable String uid,
        @Nullable String resourceVersion) {

    /** Unconditionally, with the grace period of the object. */
    public static final DeleteOptions DEFAULT = new DeleteOptions(null, null, null);

    /** Unconditionally and at once. */
    public static final DeleteOptions NOW = new DeleteOptions(0L, null, null);
}
