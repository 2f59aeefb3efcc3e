package dev.podcache.testing;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.ApiRequest;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestOutcome;
import dev.podcache.embedded.StatusException;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Status;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A call of a port of {@link FakeApiServer}: applies faults and completes the answer. */
final class FakeCall<R> {

    private final FakeApiServer server;
    private final ApiRequest request;
    private final Supplier<R> reading;
    private final CompletableFuture<R> answer = new CompletableFuture<>();

    /**
     * Creates a call.
     *
     * @param reading computes the answer, or throws a {@link StatusException}
     */
    FakeCall(FakeApiServer server, ApiRequest request, Supplier<R> reading) {
        this.server = server;
        this.request = request;
        this.reading = reading;
    }

    /** Returns the answer, which is complete unless the call is held or delayed. */
    CompletableFuture<R> answer(Duration timeout) {
        ApiServerException failure = server.failureOf(request);
        if (failure != null) {
            return CompletableFuture.failedFuture(failure);
        }
        RequestOutcome outcome = server.faults().outcomeOf(request);
        if (outcome instanceof RequestOutcome.Pass) {
            read();
        } else if (outcome instanceof RequestOutcome.Refuse) {
            answer.completeExceptionally(connectionLost(request));
        } else if (outcome instanceof RequestOutcome.Fail fail) {
            answer.completeExceptionally(translated(request, fail.error()));
        } else if (outcome instanceof RequestOutcome.Delay delay) {
            boundBy(timeout);
            server.timekeeper().schedule(delay.duration(), this::read);
        } else if (outcome instanceof RequestOutcome.Hold hold) {
            boundBy(timeout);
            hold(hold.held());
        }
        return answer;
    }

    private void hold(HeldRequests held) {
        if (held.readsAtRelease()) {
            held.arrive().thenRun(this::read);
            return;
        }
        // another call reads the state now; its answer is passed on at the release
        FakeCall<R> now = new FakeCall<>(server, request, reading);
        now.read();
        held.arrive()
                .thenRun(() -> now.answer.whenComplete((value, failure) -> {
                    if (failure == null) {
                        answer.complete(value);
                    } else {
                        answer.completeExceptionally(failure);
                    }
                }));
    }

    private void boundBy(Duration timeout) {
        Timekeeper.Scheduled timer = server.timekeeper()
                .schedule(
                        timeout,
                        () -> answer.completeExceptionally(ApiServerException.withoutAnswer(
                                FailureReason.TIMEOUT, text(request), "no answer within " + timeout, null)));
        answer.whenComplete((value, failure) -> timer.cancel());
    }

    private void read() {
        try {
            answer.complete(reading.get());
        } catch (StatusException e) {
            answer.completeExceptionally(translated(request, e));
        }
    }

    static ApiServerException translated(ApiRequest request, StatusException e) {
        return answered(request, e.status());
    }

    static ApiServerException answered(ApiRequest request, Status status) {
        return ApiServerException.answered(text(request), status.getCode(), status, null);
    }

    static ApiServerException connectionLost(ApiRequest request) {
        return ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, text(request), "connection closed", null);
    }

    private static String text(ApiRequest request) {
        return request.verb() + " " + request.resource().kind() + " " + request.key();
    }
}
