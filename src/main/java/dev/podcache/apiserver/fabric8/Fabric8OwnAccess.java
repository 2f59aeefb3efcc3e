package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.OwnAccess;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Implements {@link OwnAccess} with the requests of {@link Fabric8AccessReviews}. */
final class Fabric8OwnAccess implements OwnAccess {

    private final Fabric8AccessReviews reviews;

    Fabric8OwnAccess(Fabric8AccessReviews reviews) {
        this.reviews = reviews;
    }

    @Override
    public CompletableFuture<Optional<String>> user() {
        return reviews.create("authentication.k8s.io", "SelfSubjectReview", Map.of(), Fabric8OwnAccess::name)
                .exceptionally(thrown -> {
                    FailureReason reason = ApiServerException.reasonOf(thrown);
                    // an older server authorizes a path before it says that there is nothing
                    if (reason == FailureReason.NOT_FOUND || reason == FailureReason.FORBIDDEN) {
                        return Optional.empty();
                    }
                    throw new CompletionException(ApiServerException.causeOf(thrown));
                });
    }

    @Override
    public CompletableFuture<Boolean> mayAccess(ObjectKind<?> kind, ObjectKey key, String verb) {
        String apiVersion = kind.apiVersion();
        int slash = apiVersion.indexOf('/');
        Map<String, Object> attributes = Map.of(
                "group", slash < 0 ? "" : apiVersion.substring(0, slash),
                "version", apiVersion.substring(slash + 1),
                "resource", kind.plural(),
                "namespace", key.namespace(),
                "name", key.name(),
                "verb", verb);
        return reviews.create(
                "authorization.k8s.io",
                "SelfSubjectAccessReview",
                Map.of("resourceAttributes", attributes),
                Fabric8AccessReviews::isAllowed);
    }

    private static Optional<String> name(Map<?, ?> status) {
        return status.get("userInfo") instanceof Map<?, ?> user
                        && user.get("username") instanceof String name
                        && !name.isEmpty()
                ? Optional.of(name)
                : Optional.empty();
    }
}
