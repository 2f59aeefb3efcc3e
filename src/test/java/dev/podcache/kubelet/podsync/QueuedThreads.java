package dev.podcache.kubelet.podsync;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;

/** An executor that runs its tasks when {@link #runAll} is called. */
final class QueuedThreads implements Executor {

    private final Queue<Runnable> waiting = new ArrayDeque<>();

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    void runAll() {
        while (!waiting.isEmpty()) {
            waiting.remove().run();
        }
    }

    @Override
    public void execute(Runnable task) {
        waiting.add(task);
    }
}
