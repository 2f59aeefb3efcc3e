package dev.podcache.testing;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;

/**
 * Records when this process was stalled by a busy machine or a garbage collection. Tests exclude these periods, in
 * which no get can be answered. A thread that runs every 20 ms detects them. Thread-safe.
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

    /**
     * Creates a recorder.
     *
     * @param time the clock, in nanoseconds
     */
    public Stalls(LongSupplier time) {
        this.time = time;
    }

    /** Detects a stall. Must be called repeatedly by one thread, after the returned pause. */
    public synchronized Duration step() {
        long now = time.getAsLong();
        if (now - NOTEWORTHY > dueAt) {
            add(dueAt, now);
        }
        dueAt = now + TICK.toNanos();
        return TICK;
    }

    /** Records a stall. */
    public synchronized void add(long from, long to) {
        stalls.addLast(new Stall(from, to));
        if (stalls.size() > KEPT) {
            stalls.removeFirst();
        }
    }

    /** Returns the moment by which this process has run for so long since a time, by what is known at {@code now}. */
    public synchronized long hasRunAt(long from, Duration running, long now) {
        long end;
        long later = from + running.toNanos();
        do {
            end = later;
            later = from + running.toNanos() + between(from, Math.max(from, Math.min(end, now)));
        } while (later > end);
        return end;
    }

    /** Returns the total length of the stalls between two times, in nanoseconds. */
    public synchronized long between(long from, long to) {
        // the calling thread may be the first to run after a stall
        long underWay = to - NOTEWORTHY > dueAt ? to - Math.max(from, dueAt) : 0;
        return underWay
                + stalls.stream()
                        .mapToLong(stall -> Math.max(0, Math.min(to, stall.to) - Math.max(from, stall.from)))
                        .sum();
    }
}
