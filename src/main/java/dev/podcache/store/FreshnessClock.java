package dev.podcache.store;

import dev.podcache.time.RefCountedTicker;
import dev.podcache.time.Timekeeper;
import java.time.Duration;

/**
 * Provides the time since which an answer counts as fresh, for the price of a memory load. Reads the time and the TTL
 * every 100 ms while it is {@linkplain #retain() retained}, and at each {@link #stamp()}. So {@link #freshSince()} lags
 * by at most {@link #TICK} plus the delay of the timer thread. For that long, a get may return an object that has just
 * expired, by age or because the TTL was lowered. Thread-safe.
 *
 * <p>The reason: {@link System#nanoTime()} costs as much as three map lookups, and a cache hit is one.
 */
final class FreshnessClock {

    /** The longest that {@link #freshSince()} lags, apart from delays of the timer thread. */
    static final Duration TICK = Duration.ofMillis(100);

    /**
     * 146 years: longer than any other duration of a store, and differences of times that far apart do not overflow.
     */
    private static final long LONGEST = Long.MAX_VALUE / 2;

    private final Timekeeper timekeeper;
    private final ObjectTtlSource ttl;
    private final RefCountedTicker ticker;
    private volatile long freshSince; // written under this

    /** Makes a stopped clock. */
    FreshnessClock(Timekeeper timekeeper, ObjectTtlSource ttl) {
        this.timekeeper = timekeeper;
        this.ttl = ttl;
        this.ticker = new RefCountedTicker(timekeeper, TICK, this::stamp);
        this.freshSince = freshSince(timekeeper.nanoTime(), ttl.ttlNanos());
    }

    /** Returns the time to pass to {@link Answer.Present#isFresh}. Valid only while the clock is retained. */
    long freshSince() {
        return freshSince;
    }

    /** Returns that time exactly, for a time and a TTL. */
    static long freshSince(long now, long ttlNanos) {
        // with a TTL of 0, even an answer that arrives later is not fresh
        return ttlNanos == 0 ? now + LONGEST : now - Math.min(ttlNanos, LONGEST);
    }

    /** Updates the clock and returns the time. No later read of the clock lags behind that time. */
    synchronized long stamp() {
        // under the lock, because two racing writes could otherwise set the clock back
        long now = timekeeper.nanoTime();
        freshSince = freshSince(now, ttl.ttlNanos());
        return now;
    }

    /** Adds a user and starts the clock for the first one. Each call that returns needs one {@link #release()}. */
    synchronized void retain() {
        if (ticker.retain()) {
            boolean stamped = false;
            try {
                stamp();
                stamped = true;
            } finally {
                if (!stamped) {
                    ticker.release();
                }
            }
        }
    }

    /** Removes a user and stops the clock after the last one. */
    void release() {
        ticker.release();
    }
}
