package dev.podcache.testing;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.ApiRequest;
import dev.podcache.embedded.Held;
import dev.podcache.embedded.RequestOutcome;
import dev.podcache.embedded.StatusException;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Status;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** One call of a port, from its arrival over what the faults do to it to its answer. */
final class FakeCall<R> {

    private final FakeApiServer server;
    private final ApiRequest request;
    private final Supplier<R> reading;
    private final CompletableFuture<R> answer = new CompletableFuture<>();

    /**
     * A call that has arrived.
     *
     * @param reading brings the answer, or throws a {@link StatusException}
     */
    FakeCall(FakeApiServer server, ApiRequest request, Supplier<R> reading) {
        this.server = server;
        this.request = request;
        this.reading = reading;
    }

    /** The answer, already there unless the call is held or delayed. */
    CompletableFuture<R> answer(Duration timeout) {
        ApiServerException failure = server.failureOf(request);
        if (failure != null) {
            return CompletableFuture.failedFuture(failure);
        }
        RequestOutcome fate = server.faults().fateOf(request);
        if (fate instanceof RequestOutcome.Pass) {
            read();
        } else if (fate instanceof RequestOutcome.Refuse) {
            answer.completeExceptionally(connectionLost(request));
        } else if (fate instanceof RequestOutcome.Fail fail) {
            answer.completeExceptionally(translated(request, fail.error()));
        } else if (fate instanceof RequestOutcome.Delay delay) {
            boundBy(timeout);
            server.timekeeper().schedule(delay.duration(), this::read);
        } else if (fate instanceof RequestOutcome.Hold hold) {
            boundBy(timeout);
            hold(hold.held());
        }
        return answer;
    }

    private void hold(Held held) {
        if (held.readsAtRelease()) {
            held.arrive().thenRun(this::read);
            return;
        }
        // read into another future, so that the state is that of now and the answer comes later
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
