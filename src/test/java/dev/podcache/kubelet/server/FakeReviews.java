package dev.podcache.kubelet.server;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.Subject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** Knows the token {@code good} of user {@code reader}, and allows everything until a test says otherwise. */
final class FakeReviews implements AccessReviews {

    static final String TOKEN = "good";
    static final Subject READER =
            Subject.user("reader", List.of("readers"), "u-1", Map.of("pod", List.of("prometheus")));

    final Map<String, Subject> owners = new ConcurrentHashMap<>(Map.of(TOKEN, READER));
    final Queue<String> tokens = new ConcurrentLinkedQueue<>();
    final Queue<Subject> users = new ConcurrentLinkedQueue<>();
    final Queue<ResourceAccess> accesses = new ConcurrentLinkedQueue<>();

    volatile BiPredicate<Subject, ResourceAccess> allowed = (user, access) -> true;
    volatile boolean failing;
    volatile FailureReason reason = FailureReason.UNAVAILABLE;

    /** Completes the reviews of tokens; null to complete them at once. */
    volatile @Nullable CompletableFuture<Object> held;

    @Override
    public CompletableFuture<Optional<Subject>> reviewToken(String token) {
        tokens.add(token);
        if (failing) {
            return CompletableFuture.failedFuture(failure("POST TokenReview"));
        }
        Optional<Subject> owner = Optional.ofNullable(owners.get(token));
        CompletableFuture<Object> gate = held;
        return gate == null ? CompletableFuture.completedFuture(owner) : gate.thenApply(open -> owner);
    }

    @Override
    public CompletableFuture<Review> review(Subject user, ResourceAccess access) {
        users.add(user);
        accesses.add(access);
        return failing
                ? CompletableFuture.failedFuture(failure("POST SubjectAccessReview"))
                : CompletableFuture.completedFuture(new Review(allowed.test(user, access), ""));
    }

    private ApiServerException failure(String request) {
        return ApiServerException.withoutAnswer(reason, request, "connection refused", null);
    }
}
