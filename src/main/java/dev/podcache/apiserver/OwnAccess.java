package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Asks the API server whom our credentials belong to, and what they allow: SelfSubjectReview and
 * SelfSubjectAccessReview, which every authenticated user may create. Thread-safe.
 *
 * <p>Each call is a single attempt: one HTTP request, no retry. It returns at once and never throws. The future completes
 * within the timeout of the implementation, with the answer or exceptionally with an {@link ApiServerException}.
 */
public interface OwnAccess {

    /** Returns the user name; empty if the server does not tell, as before Kubernetes 1.28. */
    CompletableFuture<Optional<String>> user();

    /**
     * Returns whether a verb on one object is allowed.
     *
     * @param verb such as {@code list}; for {@code list} and {@code watch}, of requests that select the object by name
     */
    CompletableFuture<Boolean> mayAccess(ObjectKind<?> kind, ObjectKey key, String verb);
}
