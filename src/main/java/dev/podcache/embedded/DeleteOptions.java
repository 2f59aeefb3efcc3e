package dev.podcache.embedded;

import org.jspecify.annotations.Nullable;

/**
 * The options of a delete request.
 *
 * @param gracePeriodSeconds the grace period of a pod: 0 removes the pod at once, null uses the period in its spec;
 *     ignored for other resources
 * @param uid the UID that the object must have, or null for no precondition
 * @param resourceVersion the resourceVersion that the object must have, or null for no precondition
 */
public record DeleteOptions(
        @Nullable Long gracePeriodSeconds,
        @Nullable String uid,
        @Nullable String resourceVersion) {

    /** Deletes without preconditions and with the grace period in the spec of the pod. */
    public static final DeleteOptions DEFAULT = new DeleteOptions(null, null, null);

    /** Deletes without preconditions and without a grace period. */
    public static final DeleteOptions NOW = new DeleteOptions(0L, null, null);
}
