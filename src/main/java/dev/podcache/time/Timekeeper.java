package dev.podcache.time;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The source of time, timers, waiting and threads. Thread-safe.
 *
 * <p>{@link #nanoTime()} measures durations. {@link #wallTime()} is for people and for timestamps that leave the
 * process, never for measuring.
 */
public interface Timekeeper extends AutoCloseable {

    /**
     * Returns a timekeeper on {@link System#nanoTime()}, with one daemon thread for timers and at most two each for
     * {@link #workers()}, {@link #blocking()} and {@link #urgent()}, started when needed. While the system cannot start
     * a thread, tasks wait and are retried every second. Must be {@linkplain #close() closed}.
     */
    static Timekeeper system() {
        return new SystemTimekeeper();
    }

    /** Returns monotonic nanoseconds from an arbitrary origin; only differences are meaningful. */
    long nanoTime();

    /** Returns the time of day, which may jump. */
    Instant wallTime();

    /**
     * Runs {@code task} once on the timer thread, after {@code delay}. All tasks share one thread, so they must be
     * brief and must not block. An exception of a task is logged. After {@link #close()} no task runs.
     *
     * @param delay zero or negative to run as soon as possible
     */
    Scheduled schedule(Duration delay, Runnable task);

    /**
     * Returns the threads for work that does not block but is too long for a timer or an event loop, such as decoding a
     * megabyte. {@code execute} never blocks. After {@link #close()} tasks run on the caller's thread, so that no one
     * waits for a task that never runs.
     */
    Executor workers();

    /**
     * Returns the threads for tasks that may block for a while, such as user code, so that they do not delay {@link
     * #workers()}. After {@link #close()} tasks run on the caller's thread.
     */
    Executor blocking();

    /**
     * Returns the threads for blocking tasks that requests wait for: name lookups and reading credentials. They are
     * separate from {@link #blocking()}, so that no other task delays them. After {@link #close()} tasks run on the
     * caller's thread.
     */
    Executor urgent();

    /**
     * Waits until {@code future} is complete, normally or exceptionally, or {@code timeout} has passed.
     *
     * @return whether the future is complete
     * @throws InterruptedException if the thread is, or gets, interrupted
     */
    boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException;

    /** Cancels scheduled tasks and ends the threads; waits briefly for running tasks. Idempotent. */
    @Override
    void close();

    /** A scheduled task. */
    @FunctionalInterface
    interface Scheduled {
        /** Cancels the task unless it has begun. Idempotent. */
        void cancel();
    }
}
