package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls a sink, and tracks the running call so that closing a {@link ReflectorLoop} can wait for it. Thread-safe. */
final class SinkCalls {

    private static final Logger log = LoggerFactory.getLogger(Reflector.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    private @Nullable Call running; // guarded by this

    private record Call(Thread caller, CompletableFuture<Void> end) {}

    /**
     * Makes a call if {@code wanted} still holds. If the call throws, logs that and returns what it means for the
     * attempt; otherwise returns null. One call at a time.
     *
     * @param target what is listed and watched, for messages
     */
    @Nullable
    ApiServerException run(Object target, BooleanSupplier wanted, Runnable call) {
        Call begun = new Call(Thread.currentThread(), new CompletableFuture<>());
        synchronized (this) {
            running = begun;
        }
        try {
            // checked after awaitEnd() can see the call
            if (wanted.getAsBoolean()) {
                call.run();
            }
            return null;
        } catch (RuntimeException | Error e) {
            // an Error too: if it ended the loop, the sink would stay outdated without notice
            log.error("{}: the sink threw; retrying", target, e);
            String why = "the sink threw " + e.getClass().getSimpleName();
            return ApiServerException.withoutAnswer(FailureReason.UNREADABLE, target.toString(), why, e);
        } finally {
            synchronized (this) {
                running = null;
            }
            begun.end.complete(null);
        }
    }

    /** Waits at most 2 s for a call that runs on another thread. Warns if it is still running then. */
    void awaitEnd(Object target, Timekeeper timekeeper) {
        CompletableFuture<Void> awaited;
        synchronized (this) {
            Call call = running;
            awaited = call == null || call.caller == Thread.currentThread() ? null : call.end;
        }
        try {
            if (awaited != null && !timekeeper.await(awaited, CLOSE_TIMEOUT)) {
                log.warn("{}: the sink did not return within {} s of close()", target, CLOSE_TIMEOUT.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
