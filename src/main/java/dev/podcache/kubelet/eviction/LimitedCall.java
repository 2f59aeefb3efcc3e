package dev.podcache.kubelet.eviction;

import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Calls foreign code that may hang: each call on a thread of its own, for which the caller waits a limited time. While a
 * call has not returned, no other one is made. Used by one thread at a time.
 */
final class LimitedCall {

    private static final Logger log = LoggerFactory.getLogger(LimitedCall.class);

    private final String what;
    private final Duration limit;
    private final TaskThreads threads;
    private final Timekeeper timekeeper;
    private @Nullable CompletableFuture<?> running;
    private boolean failing;

    /** @param what the call, for log lines, such as {@code the usage of pods} */
    LimitedCall(String what, Duration limit, TaskThreads threads, Timekeeper timekeeper) {
        this.what = what;
        this.limit = limit;
        this.threads = threads;
        this.timekeeper = timekeeper;
    }

    /**
     * Makes a call.
     *
     * @return its result; empty if it threw or has not returned in time, or if an earlier call has not returned yet. The
     *     first failure after a success is logged as a warning
     */
    <R> Optional<R> make(Callable<R> call) throws InterruptedException {
        if (running != null && !running.isDone()) {
            log.debug("the runtime still has not returned {}", what);
            return Optional.empty();
        }
        CompletableFuture<R> result = new CompletableFuture<>();
        running = result;
        Future<?> task = threads.submit(() -> {
            try {
                return result.complete(call.call());
            } catch (Throwable e) {
                // includes Error: a runtime that lacks a class must not end the loop
                return result.completeExceptionally(e);
            }
        });
        if (task.isCancelled()) {
            // the threads were closed
            return Optional.empty();
        }
        if (!timekeeper.await(result, limit)) {
            failed("has not returned " + what + " for " + limit.toSeconds() + " s", null);
            return Optional.empty();
        }
        return result.handle((value, failure) -> {
                    if (failure == null) {
                        failing = false;
                    } else {
                        failed("failed to return " + what, failure);
                    }
                    return Optional.ofNullable(value);
                })
                .join();
    }

    private void failed(String how, @Nullable Throwable failure) {
        log.atLevel(failing ? Level.DEBUG : Level.WARN).setCause(failure).log("the runtime {}; going on without", how);
        failing = true;
    }
}
