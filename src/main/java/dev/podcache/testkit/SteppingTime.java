package dev.podcache.testkit;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A time that passes only in {@link #await} and {@link #pass}, which run the timers that become due on the calling
 * thread. All other tasks run on the thread that submits them. Thread-safe.
 */
final class SteppingTime implements Timekeeper {

    private static final Instant EPOCH = Instant.parse("2026-01-01T00:00:00Z");

    private final PriorityQueue<Timer> timers = // guarded by this, like all that follows
            new PriorityQueue<>(Comparator.comparingLong(Timer::due).thenComparingLong(Timer::number));
    private long now;
    private long scheduled;
    private boolean closed;

    private record Timer(long due, long number, Runnable task) {}

    /** Lets time pass, and runs the timers that are due until then. */
    void pass(Duration duration) {
        long end = nanoTime() + duration.toNanos();
        for (Timer due = nextUntil(end); due != null; due = nextUntil(end)) {
            due.task.run();
        }
    }

    /**
     * Removes and returns the next timer that is due by {@code end}; if there is none, sets the time to {@code end}.
     */
    private synchronized @Nullable Timer nextUntil(long end) {
        Timer first = timers.peek();
        if (first == null || first.due > end) {
            now = Math.max(now, end);
            return null;
        }
        now = Math.max(now, first.due);
        return timers.poll();
    }

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public Instant wallTime() {
        return EPOCH.plusNanos(nanoTime());
    }

    @Override
    public synchronized Scheduled schedule(Duration delay, Runnable task) {
        if (closed) {
            return () -> {};
        }
        Timer timer = new Timer(now + Math.max(0, delay.toNanos()), scheduled++, task);
        timers.add(timer);
        return () -> cancel(timer);
    }

    private synchronized void cancel(Timer timer) {
        timers.remove(timer);
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

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long end = nanoTime() + timeout.toNanos();
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
    public synchronized void close() {
        closed = true;
        timers.clear();
    }
}
