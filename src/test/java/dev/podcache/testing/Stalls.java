package dev.podcache.testing;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;

/**
 * When this process stood still: a machine that is too busy, or a collection of garbage. No get can be answered in such a
 * time, and none is blamed for it. Found by a thread that wants to run every 20 ms. Thread-safe.
 */
public final class Stalls {

    private static final Duration TICK = Duration.ofMillis(20);
    private static final long NOTEWORTHY = Duration.ofMillis(100).toNanos();
    private static final int KEPT = 10_000;
    private static final long NEVER = Long.MAX_VALUE;

    private final LongSupplier time;
    private final Deque<Stall> stalls = new ArrayDeque<>(); // guarded by this
    private long dueAt = NEVER; // guarded by this

    private record Stall(long from, long to) {}

    /** On this scale, in nanoseconds. */
    public Stalls(LongSupplier time) {
        this.time = time;
    }

    /** Looks how late it is; to be repeated by one thread after the pause that is returned. */
    public synchronized Duration step() {
        long now = time.getAsLong();
        if (now - NOTEWORTHY > dueAt) {
            add(dueAt, now);
        }
        dueAt = now + TICK.toNanos();
        return TICK;
    }

    /** It stood still from then to then. */
    synchronized void add(long from, long to) {
        stalls.addLast(new Stall(from, to));
        if (stalls.size() > KEPT) {
            stalls.removeFirst();
        }
    }

    /** How much of the time between the two moments it stood still, in nanoseconds. */
    public synchronized long between(long from, long to) {
        // whoever asks may be the first to run again
        long underWay = to - NOTEWORTHY > dueAt ? to - Math.max(from, dueAt) : 0;
        return underWay
                + stalls.stream()
                        .mapToLong(stall -> Math.max(0, Math.min(to, stall.to) - Math.max(from, stall.from)))
                        .sum();
    }
}
