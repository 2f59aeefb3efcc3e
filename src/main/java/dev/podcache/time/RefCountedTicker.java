package dev.podcache.time;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Runs a brief task periodically for as long as somebody uses what it does. Thread-safe. */
public final class RefCountedTicker {

    private final Timekeeper timekeeper;
    private final Duration period;
    private final Runnable task;

    private int users; // guarded by this
    private long runs; // guarded by this
    private Timekeeper.@Nullable Scheduled next; // guarded by this

    /**
     * Not used yet.
     *
     * @param period from the beginning of use, and from each run, to the next
     * @param task runs on the timer thread, under no lock; if it throws, it still runs again after the period
     */
    public RefCountedTicker(Timekeeper timekeeper, Duration period, Runnable task) {
        this.timekeeper = timekeeper;
        this.period = period;
        this.task = task;
    }

    /** One user more; whether it is the only one. Each call needs one {@link #release()}. */
    public synchronized boolean retain() {
        users++;
        if (users == 1) {
            runs++;
            schedule(runs);
        }
        return users == 1;
    }

    /** One user less. After the last the task does not run again, though a run may be under way. */
    public synchronized void release() {
        users--;
        if (users == 0 && next != null) {
            next.cancel();
            next = null;
        }
    }

    private synchronized void schedule(long run) {
        // a task that had begun when its run was stopped comes too late to be cancelled, and must not join the next run
        if (users > 0 && run == runs) {
            next = timekeeper.schedule(period, () -> {
                try {
                    task.run();
                } finally {
                    schedule(run);
                }
            });
        }
    }
}
