package dev.podcache.kubelet.podsync;

import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Runs each task on a thread of its own, and lets a test wait until a number of them is left. */
final class CountedThreads implements Executor {

    private int running; // guarded by this
    private final Set<Thread> threads = new HashSet<>(); // guarded by this

    @Override
    public void execute(Runnable task) {
        synchronized (this) {
            running++;
        }
        NewThread.EACH.execute(() -> {
            begun();
            try {
                task.run();
            } finally {
                ended();
            }
        });
    }

    private synchronized void begun() {
        threads.add(Thread.currentThread());
    }

    /** Waits until {@code count} tasks wait for something. */
    void awaitWaiting(int count) {
        Patience.await().until(() -> waiting() == count);
    }

    private synchronized long waiting() {
        return threads.stream()
                .filter(thread ->
                        thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING)
                .count();
    }

    private synchronized void ended() {
        threads.remove(Thread.currentThread());
        running--;
        notifyAll();
    }

    /** Waits until exactly {@code count} tasks are running, such as those in held calls. */
    synchronized void awaitRunning(int count) throws InterruptedException {
        long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(Patience.SECONDS);
        while (running != count) {
            long left = giveUp - System.nanoTime();
            if (left <= 0) {
                throw new AssertionError(running + " tasks are running instead of " + count);
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }
}
