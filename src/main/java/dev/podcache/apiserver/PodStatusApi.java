package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.concurrent.CompletableFuture;

/**
 * What a node agent asks of the API server about the pods assigned to it. Thread-safe; the calls
 * behave as those of {@link NodeApi}.
 */
public interface PodStatusApi {

    /** Reads the latest committed state. */
    CompletableFuture<Pod> get(ObjectKey key);

    /**
     * Changes the status.
     *
     * @param patch a strategic merge patch, as JSON; the UID in its metadata is a precondition
     * @return exceptionally {@link dev.podcache.object.FailureReason#CONFLICT} if the pod has another UID
     */
    CompletableFuture<Pod> patchStatus(ObjectKey key, String patch);

    /**
     * Removes the pod at once: its grace period is over and nothing of it runs.
     *
     * @param uid deletes only the pod that has it
     * @return the pod as it last was, or exceptionally {@link dev.podcache.object.FailureReason#CONFLICT}
     *     if another has taken its place
     */
    CompletableFuture<Pod> delete(ObjectKey key, String uid);
}
