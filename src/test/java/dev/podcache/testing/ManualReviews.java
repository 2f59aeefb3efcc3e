package dev.podcache.testing;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.Subject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/** Reviews that a test answers, each by hand, or all at once by a rule. Thread-safe. */
public final class ManualReviews implements AccessReviews {

    private final List<Call> calls = new ArrayList<>(); // guarded by this
    private volatile @Nullable BiPredicate<Subject, ResourceAccess> rule;
    private volatile boolean serviceAccountsExist = true;

    /**
     * A review that was asked for.
     *
     * @param subject null for one of our own access
     */
    public record Call(@Nullable Subject subject, ResourceAccess access, CompletableFuture<Review> answer) {

        /** Answers it. */
        public void answer(boolean allowed) {
            answer.complete(new Review(allowed, allowed ? "a rule" : "no rule"));
        }

        /** Fails it. */
        public void fail(FailureReason reason, @Nullable Duration retryAfter) {
            answer.completeExceptionally(
                    new ApiServerException(reason, 0, retryAfter, "POST SubjectAccessReview: the test says so", null));
        }
    }

    /** Answers each review from now on at once; null to have them wait. */
    public void answerBy(@Nullable BiPredicate<Subject, ResourceAccess> newRule) {
        rule = newRule;
    }

    /** Says whether ServiceAccounts exist. */
    public void serviceAccountsExist(boolean exist) {
        serviceAccountsExist = exist;
    }

    /** Returns how many reviews were asked for. */
    public synchronized int count() {
        return calls.size();
    }

    /** Returns all reviews that are not answered yet, oldest first. */
    public synchronized List<Call> open() {
        return calls.stream().filter(call -> !call.answer.isDone()).toList();
    }

    /** Returns the oldest review that is not answered yet. */
    public Call next() {
        return open().get(0);
    }

    @Override
    public CompletableFuture<Review> review(Subject subject, ResourceAccess access) {
        return called(subject, access);
    }

    @Override
    public CompletableFuture<Review> reviewOwn(ResourceAccess access) {
        return called(null, access);
    }

    private CompletableFuture<Review> called(@Nullable Subject subject, ResourceAccess access) {
        Call call = new Call(subject, access, new CompletableFuture<>());
        synchronized (this) {
            calls.add(call);
        }
        BiPredicate<Subject, ResourceAccess> by = rule;
        if (by != null && subject != null) {
            call.answer(by.test(subject, access));
        }
        return call.answer;
    }

    @Override
    public CompletableFuture<Boolean> serviceAccountExists(String namespace, String name) {
        return CompletableFuture.completedFuture(serviceAccountsExist);
    }

    @Override
    public CompletableFuture<Optional<Subject>> reviewToken(String token) {
        return CompletableFuture.failedFuture(new UnsupportedOperationException("tokens"));
    }
}
