package dev.podcache.testing;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Timekeeper} whose time passes only when a test calls {@link #advance}, or, with
 * {@link #passingWhileWaiting}, while a thread waits. Timers, including those without delay, run inside
 * {@link #advance}, on its calling thread, each at its due time. Tasks run on the thread that submits them. A thread in
 * {@link #await} blocks until the future is complete or the manual time has passed; if neither happens, it fails after
 * 20 s of real time. Thread-safe.
 */
public final class ManualTimekeeper implements Timekeeper {

    private static final long FORGOTTEN_NANOS =
            Duration.ofSeconds(Patience.SECONDS).toNanos();

    private final Object lock = new Object();
    private final TreeSet<Task> tasks =
            new TreeSet<>(Comparator.<Task>comparingLong(task -> task.due).thenComparingLong(task -> task.number));
    private final Instant epoch = Instant.parse("2026-01-01T00:00:00Z");
    private long now; // guarded by lock
    private long scheduled; // guarded by lock
    private int waiting; // guarded by lock
    private boolean closed; // guarded by lock
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

    private static final class Task {
        final long due;
        final long number;
        final Runnable action;

        Task(long due, long number, Runnable action) {
            this.due = due;
            this.number = number;
            this.action = action;
        }
    }

    /** Advances the time and runs the timers that become due. */
    public void advance(Duration duration) {
        long target;
        synchronized (lock) {
            target = now + duration.toNanos();
        }
        for (Task task = nextDue(target); task != null; task = nextDue(target)) {
            task.action.run();
        }
        synchronized (lock) {
            now = Math.max(now, target);
            lock.notifyAll();
        }
    }

    private @Nullable Task nextDue(long target) {
        synchronized (lock) {
            Task task = tasks.isEmpty() ? null : tasks.first();
            if (task == null || task.due > target) {
                return null;
            }
            tasks.remove(task);
            now = Math.max(now, task.due);
            lock.notifyAll();
            return task;
        }
    }

    /** Returns the number of scheduled tasks that have not run. */
    public int scheduledTasks() {
        synchronized (lock) {
            return tasks.size();
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
        synchronized (lock) {
            return now;
        }
    }

    @Override
    public Instant wallTime() {
        return epoch.plusNanos(nanoTime());
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable action) {
        synchronized (lock) {
            if (closed) {
                return () -> {};
            }
            long nanos = TimeUnit.NANOSECONDS.convert(delay);
            long due = nanos > Long.MAX_VALUE - now ? Long.MAX_VALUE : now + Math.max(0, nanos);
            Task task = new Task(due, scheduled++, action);
            tasks.add(task);
            return () -> {
                synchronized (lock) {
                    tasks.remove(task);
                }
            };
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

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        if (passesWhileWaiting) {
            return passUntilDone(future, timeout);
        }
        future.whenComplete((value, failure) -> {
            synchronized (lock) {
                lock.notifyAll();
            }
        });
        long giveUp = System.nanoTime() + FORGOTTEN_NANOS;
        synchronized (lock) {
            long nanos = TimeUnit.NANOSECONDS.convert(timeout);
            long deadline = nanos > Long.MAX_VALUE - now ? Long.MAX_VALUE : now + nanos;
            waiting++;
            lock.notifyAll();
            try {
                while (!future.isDone() && now < deadline) {
                    waitOrFail(giveUp, "the test neither completed the future nor advanced the time");
                }
                return future.isDone();
            } finally {
                waiting--;
                lock.notifyAll();
            }
        }
    }

    private boolean passUntilDone(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long deadline = nanoTime() + TimeUnit.NANOSECONDS.convert(timeout);
        while (!future.isDone()) {
            Task task = nextDue(deadline);
            if (task == null) {
                advance(Duration.ofNanos(deadline - nanoTime()));
                return future.isDone();
            }
            task.action.run();
        }
        return true;
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
        synchronized (lock) {
            closed = true;
            tasks.clear();
            lock.notifyAll();
        }
    }
}
