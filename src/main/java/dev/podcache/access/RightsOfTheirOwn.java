package dev.podcache.access;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.object.NotApi;
import dev.podcache.object.Subject;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Reviews that do not count a right which a Role of a policy gives. Such a Role grants what owners refer to. If its right
 * counted, an owner that refers on behalf of the operator's own ServiceAccount would keep for itself, for ever, whatever
 * another owner was granted.
 *
 * @hidden
 */
@NotApi
public final class RightsOfTheirOwn implements AccessReviews {

    // RBAC says of a right which binding and Role give it: the first one that it finds, cluster-wide ones before.

    /** The reason of a right that does not count. */
    static final String BY_A_POLICY = "only the Role of a policy allows it";

    private final AccessReviews reviews;
    private final List<String> texts;

    /** @param policies whose Roles do not count */
    public RightsOfTheirOwn(AccessReviews reviews, List<RolePolicy> policies) {
        this.reviews = reviews;
        this.texts = policies.stream()
                .map(policy -> " of Role \"" + policy.role() + "\" to ")
                .toList();
    }

    @Override
    public CompletableFuture<Review> review(Subject subject, ResourceAccess access) {
        return reviews.review(subject, access)
                .thenApply(review -> review.allowed() && texts.stream().anyMatch(review.reason()::contains)
                        ? new Review(false, BY_A_POLICY)
                        : review);
    }

    @Override
    public CompletableFuture<Optional<Subject>> reviewToken(String token) {
        return reviews.reviewToken(token);
    }
}
