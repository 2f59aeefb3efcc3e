package dev.podcache.kubelet.podsync;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/** An executor that runs its tasks when {@link #runAll} is called. */
final class QueuedThreads extends AbstractExecutorService {

    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private boolean shutdown;

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
        if (shutdown) {
            throw new RejectedExecutionException("shut down");
        }
        waiting.add(task);
    }

    @Override
    public void shutdown() {
        shutdown = true;
    }

    @Override
    public List<Runnable> shutdownNow() {
        shutdown = true;
        return List.of();
    }

    @Override
    public boolean isShutdown() {
        return shutdown;
    }

    @Override
    public boolean isTerminated() {
        return shutdown;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return shutdown;
    }
}
