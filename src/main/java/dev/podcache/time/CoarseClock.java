package dev.podcache.time;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A clock that is read for the price of a memory load. It ticks every 100 ms while somebody {@linkplain #retain() uses} it, so
 * {@link #now()} is behind the real time by at most {@link #TICK}, plus the time that the timer thread is late, and never
 * ahead of it. Thread-safe.
 *
 * <p>The reason: {@link System#nanoTime()} costs as much as three map lookups, and a cache hit is one.
 */
public final class CoarseClock {

    /** How far {@link #now()} may be behind. */
    public static final Duration TICK = Duration.ofMillis(100);

    private final Timekeeper timekeeper;
    private volatile long now;

    private int users; // guarded by this
    private long runs; // guarded by this
    private Timekeeper.@Nullable Scheduled tick; // guarded by this

    public CoarseClock(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.now = timekeeper.nanoTime();
    }

    /** Nanoseconds on the scale of {@link Timekeeper#nanoTime()}; meaningful only while the clock is retained. */
    public long now() {
        return now;
    }

    /** Brings {@link #now()} up to date and returns it: no later read is ever behind this one. */
    public synchronized long stamp() {
        // under the lock because two racing writes of nanoTime could otherwise make the clock go back
        now = timekeeper.nanoTime();
        return now;
    }

    /** Starts the clock unless it runs. Each call needs one {@link #release()}. */
    public synchronized void retain() {
        users++;
        if (users == 1) {
            runs++;
            tick(runs);
        }
    }

    /** Stops the clock after the last user. */
    public synchronized void release() {
        users--;
        if (users == 0 && tick != null) {
            tick.cancel();
            tick = null;
        }
    }

    private synchronized void tick(long run) {
        // a tick that had begun when its run was stopped comes too late to be cancelled, and must not join the next run
        if (users > 0 && run == runs) {
            stamp();
            tick = timekeeper.schedule(TICK, () -> tick(run));
        }
    }
}
