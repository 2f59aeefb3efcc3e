package dev.podcache.time;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A time that passes only in {@link #pass} and {@link #await}, which run the timers that become due on the calling
 * thread, each at its due time, in the order in which they were scheduled. All other tasks run on the thread that
 * submits them. So a simulation on one thread always takes the same course. Thread-safe.
 */
public final class SimulatedTimekeeper implements Timekeeper {

    /*
     * The monitor of `timers` guards all fields. Neither tasks nor `moved` run under it.
     */

    private static final Instant EPOCH = Instant.parse("2026-01-01T00:00:00Z");

    private final Runnable moved;
    private final TreeSet<Timer> timers =
            new TreeSet<>(Comparator.comparingLong(Timer::due).thenComparingLong(Timer::number));
    private long now;
    private long scheduled;
    private boolean closed;

    private record Timer(long due, long number, Runnable task) {}

    /** Creates a time that stands still. */
    public SimulatedTimekeeper() {
        this(() -> {});
    }

    /**
     * Creates a time that stands still.
     *
     * @param moved called whenever the time has moved on, before the timer that is due then runs
     */
    public SimulatedTimekeeper(Runnable moved) {
        this.moved = moved;
    }

    /** Lets time pass, and runs the timers that are due until then. */
    public void pass(Duration duration) {
        long end = later(duration);
        for (Timer due = nextUntil(end); due != null; due = nextUntil(end)) {
            due.task.run();
        }
    }

    /** Returns the number of scheduled timers that have not begun. */
    public int timers() {
        synchronized (timers) {
            return timers.size();
        }
    }

    /**
     * Removes and returns the next timer that is due by {@code end}; if there is none, sets the time to {@code end}.
     */
    private @Nullable Timer nextUntil(long end) {
        Timer first;
        synchronized (timers) {
            first = timers.isEmpty() || timers.first().due > end ? null : timers.pollFirst();
            now = Math.max(now, first == null ? end : first.due);
        }
        moved.run();
        return first;
    }

    private long later(Duration duration) {
        synchronized (timers) {
            long nanos = Math.max(0, TimeUnit.NANOSECONDS.convert(duration));
            return nanos > Long.MAX_VALUE - now ? Long.MAX_VALUE : now + nanos;
        }
    }

    @Override
    public long nanoTime() {
        synchronized (timers) {
            return now;
        }
    }

    @Override
    public Instant wallTime() {
        return EPOCH.plusNanos(nanoTime());
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        synchronized (timers) {
            if (closed) {
                return () -> {};
            }
            Timer timer = new Timer(later(delay), scheduled++, task);
            timers.add(timer);
            return () -> cancel(timer);
        }
    }

    private void cancel(Timer timer) {
        synchronized (timers) {
            timers.remove(timer);
        }
    }

    @Override
    public Executor workers() {
        return Runnable::run;
    }

    @Override
    public Executor blocking() {
        return Runnable::run;
    }

    @Override
    public Executor urgent() {
        return Runnable::run;
    }

    /** Lets time pass from timer to timer, until {@code future} is complete or {@code timeout} has passed. */
    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long end = later(timeout);
        while (!future.isDone()) {
            Timer due = nextUntil(end);
            if (due == null) {
                return future.isDone();
            }
            due.task.run();
        }
        return true;
    }

    @Override
    public void close() {
        synchronized (timers) {
            closed = true;
            timers.clear();
        }
    }
}
