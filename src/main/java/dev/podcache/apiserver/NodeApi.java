package dev.podcache.apiserver;

import io.fabric8.kubernetes.api.model.Node;
import java.util.concurrent.CompletableFuture;

/**
 * What a node agent asks of the API server about its own Node. Thread-safe.
 *
 * <p>Every call is one attempt: one HTTP request, no retry. It returns at once and never throws; the future completes
 * within the time that the implementation was made with, with the object as the server answered it or exceptionally
 * with an {@link ApiServerException}.
 */
public interface NodeApi {

    /** Reads the latest committed state. */
    CompletableFuture<Node> get(String name);

    /**
     * Creates the Node with its status.
     *
     * @return exceptionally {@link dev.podcache.object.FailureReason#ALREADY_EXISTS} if there is one of that name
     */
    CompletableFuture<Node> create(Node node);

    /**
     * Changes status, labels and annotations.
     *
     * @param patch a strategic merge patch, as JSON
     */
    CompletableFuture<Node> patchStatus(String name, String patch);
}
