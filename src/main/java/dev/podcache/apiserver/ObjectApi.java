package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import java.util.concurrent.CompletableFuture;

/**
 * Reads and writes objects of one kind by name: what a node agent asks of the API server about its Node, its Lease, its
 * pods and their events. Thread-safe.
 *
 * <p>Every call is one attempt: one HTTP request, no retry. It returns at once and never throws; the future completes
 * within the time that the implementation was made with, with the object as the server answered it or exceptionally
 * with an {@link ApiServerException}. The namespace of a key is empty for an object of the whole cluster.
 *
 * @param <T> the model class
 */
public interface ObjectApi<T> {

    /** Reads the latest committed state. */
    CompletableFuture<T> get(ObjectKey key);

    /**
     * Creates the object, of a Node its status too.
     *
     * @return exceptionally {@link dev.podcache.object.FailureReason#ALREADY_EXISTS} if there is one of that name
     */
    CompletableFuture<T> create(T object);

    /**
     * Replaces the object, if nobody else changed it since the version that {@code object} has.
     *
     * @return exceptionally {@link dev.podcache.object.FailureReason#CONFLICT} if somebody did
     */
    CompletableFuture<T> update(T object);

    /**
     * Changes the object, but for its status.
     *
     * @param patch a strategic merge patch, as JSON; a UID in its metadata is a precondition
     * @return exceptionally {@link dev.podcache.object.FailureReason#NOT_FOUND} if there is none, and {@link
     *     dev.podcache.object.FailureReason#CONFLICT} if it has another UID
     */
    CompletableFuture<T> patch(ObjectKey key, String patch);

    /** Changes status, labels and annotations, otherwise as {@link #patch}. */
    CompletableFuture<T> patchStatus(ObjectKey key, String patch);

    /**
     * Removes the object at once, without a grace period.
     *
     * @param uid deletes only the object that has it
     * @return the object as it last was, or exceptionally {@link dev.podcache.object.FailureReason#CONFLICT} if another
     *     has taken its place
     */
    CompletableFuture<T> delete(ObjectKey key, String uid);
}
