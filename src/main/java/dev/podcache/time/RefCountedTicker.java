package dev.podcache.time;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Runs a brief task periodically while it has at least one user. Thread-safe. */
public final class RefCountedTicker {

    private final Timekeeper timekeeper;
    private final Duration period;
    private final Runnable task;

    private int users; // guarded by this
    private long epoch; // guarded by this; counts the periods of use
    private Timekeeper.@Nullable Scheduled next; // guarded by this; null without a timer

    /**
     * Makes a ticker without users.
     *
     * @param period from the first user, and from the end of each run, to the next run
     * @param task runs on the timer thread, under no lock; if it throws, it still runs again after the period
     */
    public RefCountedTicker(Timekeeper timekeeper, Duration period, Runnable task) {
        this.timekeeper = timekeeper;
        this.period = period;
        this.task = task;
    }

    /**
     * Adds a user. Returns whether this has started the ticker: for the first user, or because its last timer could not be set.
     * Each call that returns needs one {@link #release()}. Throws what the timekeeper throws; then nothing has changed.
     */
    public synchronized boolean retain() {
        users++;
        if (next != null) {
            return false;
        }
        epoch++;
        boolean scheduled = false;
        try {
            schedule(epoch);
            scheduled = true;
        } finally {
            if (!scheduled) {
                users--;
            }
        }
        return true;
    }

    /** Removes a user. After the last one, the task does not start again, though a run may be in progress. */
    public synchronized void release() {
        users--;
        if (users == 0 && next != null) {
            next.cancel();
            next = null;
        }
    }

    private synchronized void schedule(long begunIn) {
        // a run that was in progress during release() must not continue in a later period of use
        if (users > 0 && begunIn == epoch) {
            next = null;
            next = Pause.schedule(timekeeper, period, () -> {
                try {
                    task.run();
                } finally {
                    schedule(begunIn);
                }
            });
        }
    }
}
