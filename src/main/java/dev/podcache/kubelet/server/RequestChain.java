package dev.podcache.kubelet.server;

import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.Subject;
import dev.podcache.time.TaskThreads;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles a request: authenticates its user, authorizes the access, and answers it on a thread that may block. After
 * {@code InstallAuthFilter} of upstream's kubelet. Thread-safe.
 */
final class RequestChain {

    private static final Logger log = LoggerFactory.getLogger(RequestChain.class);

    private final Authentication authentication;
    private final Authorization authorization;
    private final Endpoints endpoints;
    private final BoundedAnswers answers;
    private volatile String lastProblem = "";

    RequestChain(Authentication authentication, Authorization authorization, Endpoints endpoints, TaskThreads threads) {
        this.authentication = authentication;
        this.authorization = authorization;
        this.endpoints = endpoints;
        this.answers = new BoundedAnswers(threads);
    }

    /** Returns the response to a request. Returns at once and never throws; the future does not fail. */
    CompletableFuture<KubeletResponse> handle(KubeletRequest request) {
        return CompletableFuture.completedFuture(request)
                .thenCompose(authentication::userOf)
                .thenApply(user -> user.map(known -> authorized(known, request))
                        .orElseGet(() -> CompletableFuture.completedFuture(KubeletResponse.text(401, "Unauthorized"))))
                .exceptionally(failure -> CompletableFuture.completedFuture(notAuthenticated(failure)))
                .thenCompose(response -> response)
                .exceptionally(failure -> answers.failed(request, failure));
    }

    private KubeletResponse notAuthenticated(Throwable thrown) {
        if (ApiServerException.causeOf(thrown) instanceof RefusedException refusal) {
            return refusal.code() == 429
                    ? KubeletResponse.text(429, refusal.reason()).with(ReviewLimit.headers())
                    : KubeletResponse.text(refusal.code(), refusal.reason());
        }
        if (ApiServerException.reasonOf(thrown) == FailureReason.THROTTLED) {
            report("authenticating a client failed; answered 429", thrown);
            return KubeletResponse.text(
                            429,
                            "this token was not reviewed: the limit of requests to the API server is"
                                    + " used up; try again")
                    .with(ReviewLimit.headers());
        }
        report("authenticating a client failed; answered 401", thrown);
        return KubeletResponse.text(401, "Unauthorized");
    }

    private CompletableFuture<KubeletResponse> authorized(Subject user, KubeletRequest request) {
        return CompletableFuture.completedFuture(request)
                .thenCompose(each -> authorization.isAllowed(user, each))
                .handle((allowed, failure) -> {
                    if (failure != null) {
                        report("authorizing a client failed; answered 500", failure);
                        return refused(500, "Authorization error", user, request);
                    }
                    return allowed
                            ? answers.answer(request, endpoints::answer)
                            : refused(403, "Forbidden", user, request);
                })
                .thenCompose(response -> response);
    }

    private CompletableFuture<KubeletResponse> refused(int code, String why, Subject user, KubeletRequest request) {
        ResourceAccess access = authorization.accesses(request).get(0);
        return CompletableFuture.completedFuture(KubeletResponse.text(
                code,
                why + " (user=" + user.name() + ", verb=" + access.verb() + ", resource=" + access.resource()
                        + ", subresource=" + access.subresource() + ")"));
    }

    /** Anyone can cause this, so one problem is one warning until another one follows. */
    private void report(String what, Throwable failure) {
        String problem = what + ": " + ApiServerException.describe(failure);
        if (problem.equals(lastProblem)) {
            log.debug(problem);
        } else {
            lastProblem = problem;
            log.warn(problem);
        }
    }
}
