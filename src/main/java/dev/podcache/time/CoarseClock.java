package dev.podcache.time;

import java.time.Duration;

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
    private final WhileUsed ticking;
    private volatile long now; // written under this

    public CoarseClock(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.ticking = new WhileUsed(timekeeper, TICK, this::stamp);
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
        if (ticking.retain()) {
            stamp();
        }
    }

    /** Stops the clock after the last user. */
    public void release() {
        ticking.release();
    }
}
