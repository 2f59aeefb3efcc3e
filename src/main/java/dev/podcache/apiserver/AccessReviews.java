package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Subject;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Asks the API server who somebody is and what they may do. A server that delegates authentication and authorization, such
 * as a kubelet's, asks about others (TokenReview, SubjectAccessReview); a program asks about its own credentials
 * (SelfSubjectReview, SelfSubjectAccessReview). Thread-safe.
 *
 * <p>Each call is a single attempt: one HTTP request, no retry. It returns at once and never throws. The future
 * completes within the timeout of the implementation, with the answer or exceptionally with an {@link
 * ApiServerException}. To ask about others needs the permission to create {@code tokenreviews} or {@code
 * subjectaccessreviews}, which the ClusterRole {@code system:auth-delegator} grants; without it the reason is {@link
 * dev.podcache.object.FailureReason#FORBIDDEN}. Every authenticated user may ask about himself.
 */
public interface AccessReviews {

    /** Returns the owner of a bearer token; empty if the API server does not accept the token. */
    CompletableFuture<Optional<Subject>> reviewToken(String token);

    /** Returns whether a subject may make a request, and why or why not. */
    CompletableFuture<Review> review(Subject subject, ResourceAccess access);

    /**
     * Returns whether a ServiceAccount exists: RBAC goes by its name, so a review allows also what a deleted one was
     * allowed. Needs the permission to get it. An implementation need not have it: the future then fails with an {@link
     * UnsupportedOperationException}.
     */
    default CompletableFuture<Boolean> serviceAccountExists(String namespace, String name) {
        return CompletableFuture.failedFuture(
                new UnsupportedOperationException("review of ServiceAccount " + namespace + "/" + name));
    }

    /**
     * Returns the user name of our own credentials; empty if the server cannot tell: before Kubernetes 1.28. An
     * implementation that is asked about others only need not have it: the future then fails with an {@link
     * UnsupportedOperationException}.
     */
    default CompletableFuture<Optional<String>> ownUser() {
        return CompletableFuture.failedFuture(new UnsupportedOperationException("review of our own user"));
    }

    /**
     * Returns whether our own credentials have an access. As for {@link #ownUser}, an implementation that is asked about
     * others only need not have it.
     */
    default CompletableFuture<Review> reviewOwn(ResourceAccess access) {
        return CompletableFuture.failedFuture(new UnsupportedOperationException("review of our own " + access.verb()));
    }

    /**
     * Returns whether our own credentials allow a verb on one object.
     *
     * @param verb such as {@code list}; for {@code list} and {@code watch}, of requests that select the object by name
     */
    default CompletableFuture<Boolean> mayAccess(ObjectKind<?> kind, ObjectKey key, String verb) {
        return reviewOwn(ResourceAccess.of(kind, key, verb)).thenApply(Review::allowed);
    }

    /** Returns whether our own credentials allow to request a token of a ServiceAccount, as {@link #mayAccess} does. */
    default CompletableFuture<Boolean> mayRequestToken(ObjectKey serviceAccount) {
        return CompletableFuture.failedFuture(
                new UnsupportedOperationException("review of our access to tokens of " + serviceAccount));
    }

    /**
     * The answer to a review. Immutable.
     *
     * @param reason why, for people; "" if the API server does not say
     */
    record Review(boolean allowed, String reason) {}

    /**
     * A verb on an object, or on a subresource of it. Immutable.
     *
     * @param verb such as {@code get}
     * @param group empty for the core group
     * @param version such as {@code v1}
     * @param resource such as {@code secrets}
     * @param subresource such as {@code proxy}; empty for the object itself
     * @param namespace empty for a cluster-scoped resource
     * @param name the name of the object
     */
    record ResourceAccess(
            String verb,
            String group,
            String version,
            String resource,
            String subresource,
            String namespace,
            String name) {

        /** Names an access to a subresource of a cluster-scoped resource of the core group. */
        public ResourceAccess(String verb, String resource, String subresource, String name) {
            this(verb, "", "v1", resource, subresource, "", name);
        }

        /** Returns an access to an object; for {@code list} and {@code watch}, by its name. */
        public static ResourceAccess of(ObjectKind<?> kind, ObjectKey key, String verb) {
            String apiVersion = kind.apiVersion();
            int slash = apiVersion.indexOf('/');
            String group = slash < 0 ? "" : apiVersion.substring(0, slash);
            String version = apiVersion.substring(slash + 1);
            return new ResourceAccess(verb, group, version, kind.plural(), "", key.namespace(), key.name());
        }
    }
}
