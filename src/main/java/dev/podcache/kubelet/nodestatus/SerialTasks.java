package dev.podcache.kubelet.nodestatus;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * A mutex without waiting threads: one task at a time, in the order they came. Thread-safe.
 *
 * <p>The invariant: from the call of a task until the future that it returned is done, no other task is called. What
 * only tasks touch therefore needs no lock of its own, though it is touched by many threads.
 */
final class SerialTasks {

    /*
     * The lock covers who is next, and is not held while a task, or what follows on its future, runs. Passing the turn
     * on from thread to thread goes through it, which is also what makes one task's writes visible to the next.
     */

    private final Queue<Runnable> waiting = new ArrayDeque<>(); // guarded by this
    private boolean taken; // guarded by this

    /**
     * Calls {@code task} when its turn comes, at once if nobody has it; the result is the
     * task's, or what the task threw.
     */
    <T> CompletableFuture<T> take(Supplier<CompletableFuture<T>> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Runnable turn = () -> begin(task, result);
        synchronized (this) {
            if (taken) {
                waiting.add(turn);
                return result;
            }
            taken = true;
        }
        turn.run();
        return result;
    }

    private <T> void begin(Supplier<CompletableFuture<T>> task, CompletableFuture<T> result) {
        CompletableFuture<T> running;
        try {
            running = task.get();
        } catch (RuntimeException | Error e) {
            running = CompletableFuture.failedFuture(e);
        }
        running.whenComplete((value, thrown) -> {
            try {
                if (thrown == null) {
                    result.complete(value);
                } else {
                    result.completeExceptionally(thrown);
                }
            } finally {
                pass();
            }
        });
    }

    private void pass() {
        Runnable next;
        synchronized (this) {
            next = waiting.poll();
            taken = next != null;
        }
        if (next != null) {
            next.run();
        }
    }
}
