package dev.podcache.reflector;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Tracks the running call of a sink, so that closing a {@link ReflectorLoop} can wait for it. Thread-safe. */
final class SinkCalls {

    private @Nullable CompletableFuture<Void> running; // guarded by this
    private @Nullable Thread caller; // guarded by this

    /** Makes a call if {@code wanted} still holds. Returns the exception of the call, or null. One call at a time. */
    @Nullable
    Throwable run(BooleanSupplier wanted, Runnable call) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        synchronized (this) {
            running = ended;
            caller = Thread.currentThread();
        }
        try {
            // checked after awaitEnd() can see the call
            if (wanted.getAsBoolean()) {
                call.run();
            }
            return null;
        } catch (RuntimeException | Error e) {
            // an Error too: if it ended the loop, the sink would stay outdated without notice
            return e;
        } finally {
            synchronized (this) {
                running = null;
                caller = null;
            }
            ended.complete(null);
        }
    }

    /** Waits for a call that runs on another thread. Returns whether no such call is running any more. */
    boolean awaitEnd(Timekeeper timekeeper, Duration patience) {
        CompletableFuture<Void> awaited;
        synchronized (this) {
            awaited = caller == Thread.currentThread() ? null : running;
        }
        try {
            return awaited == null || timekeeper.await(awaited, patience);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
