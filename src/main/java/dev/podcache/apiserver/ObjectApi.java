package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import java.util.concurrent.CompletableFuture;

/**
 * Reads and writes objects of one kind by name. A node agent uses it for its Node, its Lease, its pods and their
 * events. Thread-safe.
 *
 * <p>Every call is a single attempt: one HTTP request, no retry. It returns at once and never throws. The future
 * completes within the timeout of the implementation, with the object that the server returned or exceptionally with an
 * {@link ApiServerException}. The namespace of a key is empty for a cluster-scoped object.
 *
 * @param <T> the model class
 */
public interface ObjectApi<T> {

    /** Reads the latest committed state of the object (quorum read). */
    CompletableFuture<T> get(ObjectKey key);

    /**
     * Creates the object; a Node with its status.
     *
     * @return the object, or exceptionally {@link dev.podcache.object.FailureReason#ALREADY_EXISTS} if the name is
     *     taken
     */
    CompletableFuture<T> create(T object);

    /**
     * Replaces the object, provided that the server still has the resourceVersion of {@code object}.
     *
     * @return the object, or exceptionally {@link dev.podcache.object.FailureReason#CONFLICT} if it was changed since
     */
    CompletableFuture<T> update(T object);

    /**
     * Changes the object, except its status.
     *
     * @param patch a strategic merge patch, as JSON; a UID in its metadata is a precondition
     * @return the object, or exceptionally {@link dev.podcache.object.FailureReason#NOT_FOUND} if it does not exist,
     *     and {@link dev.podcache.object.FailureReason#CONFLICT} if it has another UID
     */
    CompletableFuture<T> patch(ObjectKey key, String patch);

    /** Changes the status, labels and annotations of the object; otherwise like {@link #patch}. */
    CompletableFuture<T> patchStatus(ObjectKey key, String patch);

    /**
     * Deletes the object at once, without a grace period.
     *
     * @param uid the UID that the object must have
     * @return the last state of the object, or exceptionally {@link dev.podcache.object.FailureReason#CONFLICT} if an
     *     object with another UID has the name
     */
    CompletableFuture<T> delete(ObjectKey key, String uid);

    /**
     * Deletes the object as {@code kubectl delete} does. A pod on a node is only marked for deletion, with the grace
     * period of its spec; its node agent removes it. The default implementation fails with an {@link
     * UnsupportedOperationException}.
     *
     * @param uid the UID that the object must have
     * @return the object after the request, or exceptionally {@link dev.podcache.object.FailureReason#CONFLICT} if an
     *     object with another UID has the name
     */
    default CompletableFuture<T> deleteGracefully(ObjectKey key, String uid) {
        return CompletableFuture.failedFuture(new UnsupportedOperationException("graceful deletion of " + key));
    }
}
