package dev.podcache.reflector;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Knows whether a call of the sink is running, so that a {@link ReflectorLoop} can be closed after it. Thread-safe. */
final class SinkCalls {

    private @Nullable CompletableFuture<Void> running; // guarded by this
    private @Nullable Thread caller; // guarded by this

    /** Makes a call, unless it is not wanted any more; returns what it threw, or null. One call at a time. */
    @Nullable
    Throwable make(BooleanSupplier wanted, Runnable call) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        synchronized (this) {
            running = ended;
            caller = Thread.currentThread();
        }
        try {
            // asked when awaitEnd() can see the call already
            if (wanted.getAsBoolean()) {
                call.run();
            }
            return null;
        } catch (RuntimeException | Error e) {
            // an Error too: whatever ends the loop here would leave the sink stale in silence
            return e;
        } finally {
            synchronized (this) {
                running = null;
                caller = null;
            }
            ended.complete(null);
        }
    }

    /** Waits for the call that is running on another thread; returns whether there is none any more. */
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
