package dev.podcache.access;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.object.NotApi;
import dev.podcache.object.Subject;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Reviews that do not count a right which a Role of a policy gives. Such a Role grants what owners refer to. If its right
 * counted, what one owner was granted would stay granted for ever to another owner that refers on behalf of the operator's
 * own ServiceAccount.
 *
 * @hidden
 */
@NotApi
public final class RightsOfTheirOwn implements AccessReviews {

    // The reason names the binding and the Role that give a right. If several in a namespace do, RBAC names any of
    // them. So of several answers some name the other Role of an account that has one.

    private static final int REVIEWS = 8;

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
        return review(subject, access, REVIEWS);
    }

    private CompletableFuture<Review> review(Subject subject, ResourceAccess access, int left) {
        return reviews.review(subject, access).thenCompose(review -> {
            if (!review.allowed() || texts.stream().noneMatch(review.reason()::contains)) {
                return CompletableFuture.completedFuture(review);
            }
            return left > 1
                    ? review(subject, access, left - 1)
                    : CompletableFuture.completedFuture(new Review(false, BY_A_POLICY));
        });
    }

    @Override
    public CompletableFuture<Optional<Subject>> reviewToken(String token) {
        return reviews.reviewToken(token);
    }
}
