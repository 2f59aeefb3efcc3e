package dev.podcache.kubelet.podsync;

import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** Runs each task on a thread of its own, and lets a test wait until a number of them is left. */
final class CountedThreads implements Executor {

    private int running; // guarded by this

    @Override
    public void execute(Runnable task) {
        synchronized (this) {
            running++;
        }
        NewThread.EACH.execute(() -> {
            try {
                task.run();
            } finally {
                ended();
            }
        });
    }

    private synchronized void ended() {
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
