package dev.podcache.controlplane.leaderelection;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ForwardingObjectApi;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** A way to the server on which requests and answers take time, or get lost. */
final class DelayedLeases extends ForwardingObjectApi<Lease> {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final ManualTimekeeper timekeeper;
    private Duration requestDelay = Duration.ZERO;
    private Duration answerDelay = Duration.ZERO;
    private boolean cut;
    private boolean refused;

    DelayedLeases(ObjectApi<Lease> api, ManualTimekeeper timekeeper) {
        super(api);
        this.timekeeper = timekeeper;
    }

    void cut() {
        cut = true;
    }

    void mend() {
        cut = false;
    }

    /** Has each request answered with 403, or not any more. */
    void refuse(boolean refuse) {
        refused = refuse;
    }

    void delayRequests(Duration delay) {
        requestDelay = delay;
    }

    void delayAnswers(Duration delay) {
        answerDelay = delay;
    }

    @Override
    public CompletableFuture<Lease> get(ObjectKey key) {
        return delayed(() -> super.get(key));
    }

    @Override
    public CompletableFuture<Lease> create(Lease object) {
        return delayed(() -> super.create(object));
    }

    @Override
    public CompletableFuture<Lease> update(Lease object) {
        return delayed(() -> super.update(object));
    }

    private CompletableFuture<Lease> delayed(Supplier<CompletableFuture<Lease>> request) {
        if (refused) {
            return CompletableFuture.failedFuture(
                    new ApiServerException(FailureReason.FORBIDDEN, 403, null, "GET lease was answered 403", null));
        }
        CompletableFuture<Lease> answer = new CompletableFuture<>();
        if (!cut) {
            Duration back = answerDelay;
            after(
                    requestDelay,
                    () -> request.get()
                            .whenComplete((lease, failure) -> after(back, () -> {
                                if (failure == null) {
                                    answer.complete(lease);
                                } else {
                                    answer.completeExceptionally(failure);
                                }
                            })));
        }
        Duration longest = requestDelay.plus(answerDelay).plus(TIMEOUT);
        timekeeper.schedule(
                longest,
                () -> answer.completeExceptionally(
                        ApiServerException.withoutAnswer(FailureReason.TIMEOUT, "request", "timeout", null)));
        return answer;
    }

    private void after(Duration delay, Runnable action) {
        if (delay.isZero()) {
            action.run();
        } else {
            timekeeper.schedule(delay, action);
        }
    }
}
