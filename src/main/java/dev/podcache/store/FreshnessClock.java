package dev.podcache.store;

import dev.podcache.time.RefCountedTicker;
import dev.podcache.time.Timekeeper;
import java.time.Duration;

/**
 * Knows, for the price of a memory load, how young an answer has to be to count as fresh. It looks at the time and at
 * the TTL every 100 ms while it is {@linkplain #retain() retained}, and at each {@link #stamp()}. So {@link
 * #freshSince()} is behind by at most {@link #TICK}, plus the time that the timer thread is late: for so long a get may
 * serve what has just expired, or what a TTL that has just been lowered makes stale. Thread-safe.
 *
 * <p>The reason: {@link System#nanoTime()} costs as much as three map lookups, and a cache hit is one.
 */
final class FreshnessClock {

    /** The longest that {@link #freshSince()} may be behind. */
    static final Duration TICK = Duration.ofMillis(100);

    /** 146 years: more than any other duration of a store, and no difference of two moments so far apart overflows. */
    private static final long AGES = Long.MAX_VALUE / 2;

    private final Timekeeper timekeeper;
    private final ObjectTtlSource ttl;
    private final RefCountedTicker ticking;
    private volatile long freshSince; // written under this

    /** A clock that does not run. */
    FreshnessClock(Timekeeper timekeeper, ObjectTtlSource ttl) {
        this.timekeeper = timekeeper;
        this.ttl = ttl;
        this.ticking = new RefCountedTicker(timekeeper, TICK, this::stamp);
        this.freshSince = freshSince(timekeeper.nanoTime(), ttl.ttlNanos());
    }

    /** The moment of which {@link Answer.Present#isFresh} is asked; meaningful only while the clock is retained. */
    long freshSince() {
        return freshSince;
    }

    /** Returns that moment exactly, for a time and a TTL. */
    static long freshSince(long now, long ttlNanos) {
        // without a TTL not even an answer that comes after this moment is fresh
        return ttlNanos == 0 ? now + AGES : now - Math.min(ttlNanos, AGES);
    }

    /** Brings the clock up to date and returns the time: no later read is ever behind it. */
    synchronized long stamp() {
        // under the lock because two racing writes could otherwise make the clock go back
        long now = timekeeper.nanoTime();
        freshSince = freshSince(now, ttl.ttlNanos());
        return now;
    }

    /** Starts the clock unless it runs. Each call needs one {@link #release()}. */
    synchronized void retain() {
        if (ticking.retain()) {
            stamp();
        }
    }

    /** Stops the clock after the last user. */
    void release() {
        ticking.release();
    }
}
