package dev.podcache.testing;

import dev.podcache.time.SimulatedTimekeeper;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A {@link Timekeeper} whose time passes only when a test calls {@link #advance}, or, with
 * {@link #passingWhileWaiting}, while a thread waits. Timers, including those without delay, run inside
 * {@link #advance}, on its calling thread, each at its due time. Tasks run on the thread that submits them. A thread in
 * {@link #await} blocks until the future is complete or the manual time has passed; if neither happens, it fails after
 * two minutes of real time. Thread-safe.
 */
public final class ManualTimekeeper implements Timekeeper {

    private static final long FORGOTTEN_NANOS =
            Duration.ofSeconds(Patience.SECONDS).toNanos();

    private final Object lock = new Object();
    private final SimulatedTimekeeper time = new SimulatedTimekeeper(this::wakeWaiters);
    private int waiting; // guarded by lock
    private final boolean passesWhileWaiting;

    /** Creates a timekeeper whose time passes only in {@link #advance}. */
    public ManualTimekeeper() {
        this(false);
    }

    private ManualTimekeeper(boolean passesWhileWaiting) {
        this.passesWhileWaiting = passesWhileWaiting;
    }

    /**
     * Creates a timekeeper whose time also jumps while a thread waits: from timer to timer, up to the end of the wait.
     * For tests with one thread.
     */
    public static ManualTimekeeper passingWhileWaiting() {
        return new ManualTimekeeper(true);
    }

    /** Advances the time and runs the timers that become due. */
    public void advance(Duration duration) {
        time.pass(duration);
    }

    /** Returns the number of scheduled tasks that have not run. */
    public int scheduledTasks() {
        return time.timers();
    }

    /** Returns how many threads are in {@link #await}. */
    public int waiters() {
        synchronized (lock) {
            return waiting;
        }
    }

    /** Blocks until {@code count} threads are in {@link #await} at once. */
    public void awaitWaiters(int count) throws InterruptedException {
        long giveUp = System.nanoTime() + FORGOTTEN_NANOS;
        synchronized (lock) {
            while (waiting < count) {
                waitOrFail(giveUp, "only " + waiting + " of " + count + " threads are waiting");
            }
        }
    }

    @Override
    public long nanoTime() {
        return time.nanoTime();
    }

    @Override
    public Instant wallTime() {
        return time.wallTime();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable action) {
        return time.schedule(delay, action);
    }

    @Override
    public Executor workers() {
        return time.workers();
    }

    @Override
    public Executor blocking() {
        return time.blocking();
    }

    @Override
    public Executor urgent() {
        return time.urgent();
    }

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        if (passesWhileWaiting) {
            return time.await(future, timeout);
        }
        future.whenComplete((value, failure) -> wakeWaiters());
        long giveUp = System.nanoTime() + FORGOTTEN_NANOS;
        long nanos = TimeUnit.NANOSECONDS.convert(timeout);
        synchronized (lock) {
            long began = time.nanoTime();
            waiting++;
            lock.notifyAll();
            try {
                while (!future.isDone() && time.nanoTime() - began < nanos) {
                    waitOrFail(giveUp, "the test neither completed the future nor advanced the time");
                }
                return future.isDone();
            } finally {
                waiting--;
                lock.notifyAll();
            }
        }
    }

    private void wakeWaiters() {
        synchronized (lock) {
            lock.notifyAll();
        }
    }

    private void waitOrFail(long giveUp, String message) throws InterruptedException {
        long left = giveUp - System.nanoTime();
        if (left <= 0) {
            throw new AssertionError(message);
        }
        TimeUnit.NANOSECONDS.timedWait(lock, left);
    }

    @Override
    public void close() {
        time.close();
        wakeWaiters();
    }
}
