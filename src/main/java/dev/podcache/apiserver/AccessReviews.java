package dev.podcache.apiserver;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Asks the API server for the owner of a bearer token, and for what a user may do: TokenReview and SubjectAccessReview.
 * A server that delegates authentication and authorization, such as a kubelet's, uses it. Thread-safe.
 *
 * <p>Each call is a single attempt: one HTTP request, no retry. It returns at once and never throws. The future
 * completes within the timeout of the implementation, with the answer or exceptionally with an {@link
 * ApiServerException}. Its reason is {@link dev.podcache.object.FailureReason#FORBIDDEN} without the permission to create
 * {@code tokenreviews} or {@code subjectaccessreviews}, which the ClusterRole {@code system:auth-delegator} grants.
 */
public interface AccessReviews {

    /** Returns the owner of a bearer token; empty if the API server does not accept the token. */
    CompletableFuture<Optional<ReviewedUser>> reviewToken(String token);

    /** Returns whether a user may access a cluster-scoped resource. */
    CompletableFuture<Boolean> reviewAccess(ReviewedUser user, ResourceAccess access);

    /**
     * A user who was authenticated. Immutable; the collections are copied.
     *
     * @param name such as {@code system:serviceaccount:monitoring:prometheus}
     * @param uid empty if the user has none
     * @param extra further facts, such as the pod that a token is bound to
     */
    record ReviewedUser(String name, String uid, List<String> groups, Map<String, List<String>> extra) {

        public ReviewedUser {
            groups = List.copyOf(groups);
            extra = Map.copyOf(extra);
        }
    }

    /**
     * An access to a subresource of a cluster-scoped resource of the core group. Immutable.
     *
     * @param verb such as {@code get}
     * @param resource such as {@code nodes}
     * @param subresource such as {@code proxy}
     * @param name the name of the object
     */
    record ResourceAccess(String verb, String resource, String subresource, String name) {}
}
