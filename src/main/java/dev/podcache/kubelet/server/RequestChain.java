package dev.podcache.kubelet.server;

import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.AccessReviews.ReviewedUser;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles a request: authenticates its user, authorizes the access, and answers it on a thread that may block. After
 * {@code InstallAuthFilter} of upstream's kubelet. Thread-safe.
 */
final class RequestChain {

    private static final Logger log = LoggerFactory.getLogger(RequestChain.class);

    /** Answers that are made at a time, so that a runtime that hangs does not use up all threads of the process. */
    static final int MOST_ANSWERS = 64;

    private final Authentication authentication;
    private final Authorization authorization;
    private final Endpoints endpoints;
    private final TaskThreads threads;
    private final Semaphore answers = new Semaphore(MOST_ANSWERS);
    private volatile String lastProblem = "";

    RequestChain(Authentication authentication, Authorization authorization, Endpoints endpoints, TaskThreads threads) {
        this.authentication = authentication;
        this.authorization = authorization;
        this.endpoints = endpoints;
        this.threads = threads;
    }

    /** Returns the response to a request. Returns at once and never throws; the future does not fail. */
    CompletableFuture<KubeletResponse> handle(KubeletRequest request) {
        return CompletableFuture.completedFuture(request)
                .thenCompose(authentication::userOf)
                .exceptionally(failure -> {
                    report("authenticating a client failed; answered 401", failure);
                    return Optional.empty();
                })
                .thenCompose(user -> user.isEmpty()
                        ? CompletableFuture.completedFuture(KubeletResponse.text(401, "Unauthorized"))
                        : authorized(user.get(), request))
                .exceptionally(failure -> failed(request, failure));
    }

    private CompletableFuture<KubeletResponse> authorized(ReviewedUser user, KubeletRequest request) {
        return CompletableFuture.completedFuture(request)
                .thenCompose(each -> authorization.isAllowed(user, each))
                .handle((allowed, failure) -> {
                    if (failure != null) {
                        report("authorizing a client failed; answered 500", failure);
                        return refused(500, "Authorization error", user, request);
                    }
                    return allowed ? answered(request) : refused(403, "Forbidden", user, request);
                })
                .thenCompose(response -> response);
    }

    private CompletableFuture<KubeletResponse> refused(
            int code, String why, ReviewedUser user, KubeletRequest request) {
        ResourceAccess access = authorization.accesses(request).get(0);
        return CompletableFuture.completedFuture(KubeletResponse.text(
                code,
                why + " (user=" + user.name() + ", verb=" + access.verb() + ", resource=" + access.resource()
                        + ", subresource=" + access.subresource() + ")"));
    }

    private CompletableFuture<KubeletResponse> answered(KubeletRequest request) {
        CompletableFuture<KubeletResponse> answer = new CompletableFuture<>();
        if (!answers.tryAcquire()) {
            answer.complete(KubeletResponse.text(
                    503,
                    "this node is answering " + MOST_ANSWERS
                            + " requests already; its container runtime may hang; try again later"));
            return answer;
        }
        threads.execute(() -> {
            Timekeeper.Scheduled mark = threads.beginCall();
            try {
                answer.complete(endpoints.answer(request));
            } catch (Throwable failure) {
                answer.complete(failed(request, failure));
            } finally {
                mark.cancel();
                answers.release();
            }
        });
        return answer;
    }

    private static KubeletResponse failed(KubeletRequest request, Throwable thrown) {
        Throwable failure = ApiServerException.causeOf(thrown);
        if (failure instanceof RefusedException refusal) {
            return KubeletResponse.text(refusal.code(), refusal.reason());
        }
        log.error("{} failed; answered 500", request, failure);
        return KubeletResponse.text(500, "the node could not answer: " + failure);
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
