package dev.podcache.kubelet.nodestatus;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Runs asynchronous tasks one at a time, in the order of their calls. No thread waits. Thread-safe.
 *
 * <p>Invariant: from the call of a task until its future completes, no other task is called. So state that only tasks
 * use needs no lock, although different threads run them.
 */
final class SerialTasks {

    /*
     * The lock covers which task is next. It is not held while a task, or a stage that depends on its future, runs.
     * Each task is started by a thread that took the lock after the task before had ended, which makes the writes of
     * one task visible to the next.
     */

    private final Queue<Runnable> waiting = new ArrayDeque<>(); // guarded by this
    private boolean running; // guarded by this

    /**
     * Calls {@code task}: at once and on the caller's thread if no other task runs, otherwise after the tasks before
     * it.
     *
     * @return completes as the task's future does; fails with what the task threw
     */
    <T> CompletableFuture<T> run(Supplier<CompletableFuture<T>> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Runnable start = () -> start(task, result);
        synchronized (this) {
            if (running) {
                waiting.add(start);
                return result;
            }
            running = true;
        }
        start.run();
        return result;
    }

    private <T> void start(Supplier<CompletableFuture<T>> task, CompletableFuture<T> result) {
        boolean begun = false;
        try {
            task.get().whenComplete((value, thrown) -> {
                try {
                    if (thrown == null) {
                        result.complete(value);
                    } else {
                        result.completeExceptionally(thrown);
                    }
                } finally {
                    startNext();
                }
            });
            begun = true;
        } catch (RuntimeException | Error e) {
            result.completeExceptionally(e);
        } finally {
            if (!begun) {
                startNext();
            }
        }
    }

    private void startNext() {
        Runnable next;
        synchronized (this) {
            next = waiting.poll();
            running = next != null;
        }
        if (next != null) {
            next.run();
        }
    }
}
