package dev.podcache.time;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Now, later, waiting, and the threads to do it on. Thread-safe.
 *
 * <p>{@link #nanoTime()} measures; {@link #wallTime()} is for people and for timestamps that leave
 * the process, never for measuring.
 */
public interface Timekeeper extends AutoCloseable {

    /**
     * The real one: {@link System#nanoTime()}, one daemon thread for timers, and at most two each for work, for what
     * may block and for what is urgent, started when needed. Work waits while the system cannot start a thread, and is
     * tried again every second. Must be {@linkplain #close() closed}.
     */
    static Timekeeper system() {
        return new SystemTimekeeper();
    }

    /** Monotonic nanoseconds from an arbitrary origin; only differences mean anything. */
    long nanoTime();

    /** The time of day. May jump. */
    Instant wallTime();

    /**
     * Runs {@code task} once, on the timer thread, not before {@code delay} has passed. Tasks must be brief and must
     * not block: they share one thread. What a task throws is logged. After {@link #close()} nothing runs.
     *
     * @param delay zero or negative means as soon as possible
     */
    Scheduled schedule(Duration delay, Runnable task);

    /**
     * Threads for work that is too long for a timer or an event loop, such as decoding a megabyte, but does not wait
     * for anything. {@code execute} never blocks; after {@link #close()} work runs on the caller's thread, so that
     * nobody waits for what never comes.
     */
    Executor workers();

    /**
     * Threads for what may block for a while, such as a call of somebody else's code: so that it holds up no {@linkplain
     * #workers() work}. The same after {@link #close()}.
     */
    Executor blocking();

    /**
     * Threads for the same, apart from those of {@link #blocking()}: for the one lookup of a name and the one reading of
     * credentials that requests wait for. The same after {@link #close()}.
     */
    Executor urgent();

    /**
     * Waits until {@code future} is done, however it ended, or {@code timeout} has passed.
     *
     * @return whether the future is done
     * @throws InterruptedException if the thread is, or gets, interrupted
     */
    boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException;

    /** Drops what is scheduled and ends the threads, waiting a moment for what they run now. Idempotent. */
    @Override
    void close();

    /** A task that has not run yet. */
    @FunctionalInterface
    interface Scheduled {
        /** Keeps the task from running unless it has begun. Idempotent. */
        void cancel();
    }
}
