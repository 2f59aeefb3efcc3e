package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A get that found no hit. It names the completion that it waits for, so that either a thread or a callback can wait.
 * Used by one thread at a time.
 */
abstract class PendingGet<T> {

    final ObjectKind<?> kind;
    final ObjectKey key;
    private final StoreOptions options;
    private @Nullable CompletableFuture<?> awaited;
    private long deadline;

    PendingGet(ObjectKind<?> kind, ObjectKey key, StoreOptions options) {
        this.kind = kind;
        this.key = key;
        this.options = options;
    }

    /**
     * Begins the get, or goes on after a wait. Returns the object, or the result of {@link #waitFor}.
     *
     * @param inTime whether the awaited completion came before the deadline; true when the get begins
     */
    abstract @Nullable T proceed(boolean inTime);

    /** Makes this get wait for {@code completion}, at most until the time {@code until}. Returns null. */
    final @Nullable T waitFor(CompletableFuture<?> completion, long until) {
        awaited = completion;
        deadline = until;
        return null;
    }

    /** Waits on the calling thread. Returns or throws the result of the get. */
    final T join() {
        T object = proceed(true);
        while (object == null) {
            CompletableFuture<?> completion = Objects.requireNonNull(awaited);
            object = proceed(completion.isDone() || options.await(completion, left(), kind, key));
        }
        return object;
    }

    /** Returns the future result of the get, which completes on a thread that user code may block. No thread waits. */
    final CompletableFuture<T> async() {
        CompletableFuture<T> result = new CompletableFuture<>();
        goOn(true, result);
        return result;
    }

    private void goOn(boolean inTime, CompletableFuture<T> result) {
        try {
            T object = proceed(inTime);
            if (object == null) {
                goOnLater(Objects.requireNonNull(awaited), result);
            } else {
                end(() -> result.complete(object));
            }
        } catch (Throwable e) {
            end(() -> result.completeExceptionally(e));
        }
    }

    private void end(Runnable completion) {
        try {
            options.timekeeper().blocking().execute(completion);
        } catch (Throwable noThread) {
            // rather on this thread than never
            completion.run();
        }
    }

    private void goOnLater(CompletableFuture<?> completion, CompletableFuture<T> result) {
        if (!completion.isDone() && left().isZero()) {
            goOn(false, result);
            return;
        }
        // the completion and the timer race: the first of them goes on
        AtomicBoolean over = new AtomicBoolean();
        Timekeeper.Scheduled timer = options.timekeeper().schedule(left(), () -> {
            if (over.compareAndSet(false, true)) {
                goOn(false, result);
            }
        });
        completion.whenComplete((ended, failure) -> {
            if (over.compareAndSet(false, true)) {
                timer.cancel();
                goOn(true, result);
            }
        });
    }

    final long now() {
        return options.timekeeper().nanoTime();
    }

    private Duration left() {
        return Duration.ofNanos(Math.max(0, deadline - now()));
    }
}
