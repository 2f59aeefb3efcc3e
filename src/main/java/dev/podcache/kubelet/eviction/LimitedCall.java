package dev.podcache.kubelet.eviction;

import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Calls foreign code that may hang: each call on a thread of its own, for which the caller waits a limited time. While a
 * call has not returned, no other one is made. The last result is kept. Used by one thread at a time.
 */
final class LimitedCall<R> {

    private static final Logger log = LoggerFactory.getLogger(LimitedCall.class);

    private final String what;
    private final Duration limit;
    private final TaskThreads threads;
    private final Timekeeper timekeeper;
    private @Nullable CompletableFuture<R> running;
    private volatile @Nullable Returned<R> last; // written by the threads of calls
    private boolean failing;

    /** A result, and when it came, in nanoseconds. */
    private record Returned<R>(R value, long at) {}

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
    Optional<R> make(Callable<R> call) throws InterruptedException {
        if (running != null && !running.isDone()) {
            log.debug("the runtime still has not returned {}", what);
            return Optional.empty();
        }
        CompletableFuture<R> result = new CompletableFuture<>();
        running = result;
        Future<?> task = threads.submit(() -> {
            try {
                R value = call.call();
                last = new Returned<>(value, timekeeper.nanoTime());
                return result.complete(value);
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

    /** Returns the newest result, which may be that of a call that returned too late; empty if no call has returned. */
    Optional<R> last() {
        return Optional.ofNullable(last).map(Returned::value);
    }

    private void failed(String how, @Nullable Throwable failure) {
        Returned<R> newest = last;
        log.atLevel(failing ? Level.DEBUG : Level.WARN)
                .setCause(failure)
                .log(
                        "the runtime {}; going on {}",
                        how,
                        newest == null ? "without" : "with the result of " + secondsSince(newest.at) + " s ago");
        failing = true;
    }

    private long secondsSince(long at) {
        return TimeUnit.NANOSECONDS.toSeconds(timekeeper.nanoTime() - at);
    }
}
