package dev.podcache.time;

import java.time.Duration;
import java.time.Instant;
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
     * The monitor of `timers` guards all fields, those of the timers too. Neither tasks nor `moved` run under it. The time
     * is also read without it. A heap, because simulations set millions of timers; a cancelled timer stays in it until it
     * is due, or until half of them are cancelled.
     */

    private static final Instant EPOCH = Instant.parse("2026-01-01T00:00:00Z");
    private static final int FEW = 64;

    private final Runnable moved;
    private final TimerHeap timers = new TimerHeap();
    private int cancelled; // of the timers
    private volatile long now;
    private long scheduled;
    private boolean closed;

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
        for (Runnable due = nextUntil(end); due != null; due = nextUntil(end)) {
            due.run();
        }
    }

    /** Returns the number of scheduled timers that have not begun. */
    public int timers() {
        synchronized (timers) {
            return timers.size() - cancelled;
        }
    }

    /**
     * Returns the task of the next timer that is due by {@code end}; if there is none, sets the time to {@code end}.
     */
    private @Nullable Runnable nextUntil(long end) {
        Runnable task = null;
        synchronized (timers) {
            while (task == null && !timers.isEmpty() && timers.firstDue() <= end) {
                long due = timers.firstDue();
                TimerHeap.Timer first = timers.poll();
                task = first.task;
                first.task = null;
                if (task == null) {
                    cancelled--;
                } else {
                    now = Math.max(now, due);
                }
            }
            if (task == null) {
                now = Math.max(now, end);
            }
        }
        moved.run();
        return task;
    }

    private long later(Duration duration) {
        long from = now;
        long nanos = Math.max(0, TimeUnit.NANOSECONDS.convert(duration));
        return nanos > Long.MAX_VALUE - from ? Long.MAX_VALUE : from + nanos;
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public Instant wallTime() {
        return Instant.ofEpochSecond(EPOCH.getEpochSecond(), nanoTime());
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        synchronized (timers) {
            if (closed) {
                return () -> {};
            }
            TimerHeap.Timer timer = new TimerHeap.Timer(scheduled++, task);
            timers.add(later(delay), timer);
            return () -> cancel(timer);
        }
    }

    private void cancel(TimerHeap.Timer timer) {
        if (timer.task == null) {
            return; // most timers are cancelled after they have begun
        }
        synchronized (timers) {
            if (timer.task == null) {
                return;
            }
            timer.task = null;
            cancelled++;
            if (cancelled > FEW && cancelled > timers.size() / 2) {
                timers.removeCancelled();
                cancelled = 0;
            }
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
            Runnable due = nextUntil(end);
            if (due == null) {
                return future.isDone();
            }
            due.run();
        }
        return true;
    }

    @Override
    public void close() {
        synchronized (timers) {
            closed = true;
            timers.clear();
            cancelled = 0;
        }
    }
}
