package dev.podcache.time;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads for tasks that call foreign code. A limited number of tasks run at a time, apart from those that are in a
 * foreign call that takes long: while a task is in such a call, another task runs in its place. So many short tasks need
 * few threads, and a call that hangs keeps no other task waiting. Thread-safe.
 */
public final class TaskThreads implements Executor, AutoCloseable {

    /*
     * The lock guards `running`, `waiting`, `calling`, the timer and `closed`, and the state of slots. Of foreign code, only
     * the timekeeper is called under it.
     *
     * Invariants: `running` is the number of tasks that have begun and not ended, without those whose slot was released.
     * Tasks wait only while `running` is the limit. While tasks wait and a slot is in a call, and only then, there is a
     * timer; it fires when the oldest call has become a long one, or earlier. So a call without waiting tasks sets none.
     */

    private static final Logger log = LoggerFactory.getLogger(TaskThreads.class);
    private static final Duration LONG_CALL = Duration.ofMillis(100);
    private static final Duration IDLE_THREAD_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration NO_THREAD_PAUSE = Duration.ofSeconds(1);
    private static final ThreadLocal<@Nullable Slot> CURRENT = new ThreadLocal<>();

    private final Executor threads;
    private final @Nullable ThreadPoolExecutor owned;
    private final int limit;
    private final Timekeeper timekeeper;

    private final Object lock = new Object();
    private final Queue<Runnable> waiting = new ArrayDeque<>(); // guarded by lock
    private final Set<Slot> calling = new LinkedHashSet<>(); // guarded by lock; not released, the oldest call first
    private Timekeeper.@Nullable Scheduled timer; // guarded by lock
    private long timers; // guarded by lock; the number of the last timer
    private int running; // guarded by lock
    private boolean closed; // guarded by lock

    private TaskThreads(Executor threads, @Nullable ThreadPoolExecutor owned, int limit, Timekeeper timekeeper) {
        this.threads = threads;
        this.owned = owned;
        this.limit = limit;
        this.timekeeper = timekeeper;
    }

    /** The place of a task among the running ones. */
    private final class Slot {
        boolean released; // guarded by lock
        int calls; // guarded by lock; one within another
        long calledAt; // guarded by lock; when the outermost of them began

        void beginCall() {
            synchronized (lock) {
                calls++;
                if (calls == 1 && !released) {
                    calledAt = timekeeper.nanoTime();
                    calling.add(this);
                    setTimerLocked();
                }
            }
        }

        void endCall() {
            synchronized (lock) {
                calls--;
                if (calls == 0) {
                    calling.remove(this);
                    setTimerLocked();
                }
            }
        }
    }

    /**
     * Returns threads that start when needed and end when idle for 10 s.
     *
     * @param name the beginning of the threads' names
     * @param limit the number of tasks that run at a time, at least 1
     */
    public static TaskThreads named(String name, int limit, Timekeeper timekeeper) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_THREAD_TIMEOUT.toNanos(),
                TimeUnit.NANOSECONDS,
                new SynchronousQueue<>(),
                SystemTimekeeper.named(name));
        return new TaskThreads(pool, pool, limit, timekeeper);
    }

    /** Returns an instance that runs each task with {@code threads}, which it does not shut down. */
    public static TaskThreads on(Executor threads, int limit, Timekeeper timekeeper) {
        return new TaskThreads(threads, null, limit, timekeeper);
    }

    /** Runs {@code task} as soon as the limit allows it. Does not block. Ignored after {@link #close}. */
    @Override
    public void execute(Runnable task) {
        synchronized (lock) {
            if (closed) {
                return;
            }
            if (running == limit) {
                waiting.add(task);
                setTimerLocked();
                return;
            }
            running++;
        }
        boolean begun = false;
        try {
            begin(task);
            begun = true;
        } finally {
            if (!begun) {
                notBegun();
            }
        }
    }

    /** Gives the slot of a task that no thread took to one that waits. */
    private void notBegun() {
        Runnable next = next(null);
        if (next != null) {
            begin(next);
        }
    }

    /**
     * Runs {@code task} on a thread of its own, regardless of the limit. Canceling the future interrupts the task. After
     * {@link #close}, the future is canceled.
     */
    public <T> Future<T> submit(Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        if (isClosed()) {
            future.cancel(false);
        } else {
            start(future, () -> future.cancel(false));
        }
        return future;
    }

    /** Runs {@code task} on a thread of its own, regardless of the limit. Ignored after {@link #close}. */
    public void executeNow(Runnable task) {
        if (!isClosed()) {
            start(task, () -> {});
        }
    }

    private boolean isClosed() {
        synchronized (lock) {
            return closed;
        }
    }

    /**
     * Marks the beginning of a foreign call of the current task. Cancel the result when the call returns. Has no effect on
     * a thread without a task.
     */
    public Timekeeper.Scheduled beginCall() {
        Slot slot = CURRENT.get();
        if (slot == null) {
            return () -> {};
        }
        // the slot may belong to another instance
        slot.beginCall();
        AtomicBoolean ended = new AtomicBoolean();
        return () -> {
            if (!ended.getAndSet(true)) {
                slot.endCall();
            }
        };
    }

    /** Sets or cancels the timer, as the invariant says. */
    private void setTimerLocked() {
        boolean needed = !waiting.isEmpty() && !calling.isEmpty();
        if (needed && timer == null) {
            Duration left = LONG_CALL.minusNanos(
                    timekeeper.nanoTime() - calling.iterator().next().calledAt);
            long number = ++timers;
            timer = timekeeper.schedule(left.isNegative() ? Duration.ZERO : left, () -> releaseLongCalls(number));
        } else if (!needed && timer != null) {
            timer.cancel();
            timer = null;
        }
    }

    private void releaseLongCalls(long number) {
        List<Runnable> next = new ArrayList<>();
        try {
            synchronized (lock) {
                // else this timer was canceled too late
                if (timer != null && number == timers) {
                    timer = null;
                    releaseLongCallsLocked(next);
                    setTimerLocked();
                }
            }
        } finally {
            next.forEach(this::begin);
        }
    }

    private void releaseLongCallsLocked(List<Runnable> next) {
        long now = timekeeper.nanoTime();
        for (Iterator<Slot> slots = calling.iterator(); slots.hasNext() && !waiting.isEmpty(); ) {
            Slot slot = slots.next();
            if (now - slot.calledAt < LONG_CALL.toNanos()) {
                break;
            }
            slots.remove();
            slot.released = true;
            next.add(waiting.remove());
        }
    }

    private void begin(Runnable task) {
        start(() -> run(task), () -> {});
    }

    private void start(Runnable run, Runnable rejected) {
        try {
            threads.execute(run);
        } catch (RejectedExecutionException e) {
            log.debug("task skipped: the threads were shut down", e);
            rejected.run();
        } catch (OutOfMemoryError noThread) {
            log.warn("cannot start a thread ({}); retrying in {}", noThread.getMessage(), NO_THREAD_PAUSE);
            timekeeper.schedule(NO_THREAD_PAUSE, () -> start(run, rejected));
        }
    }

    private void run(Runnable first) {
        Slot outer = CURRENT.get();
        for (Runnable task = first; task != null; ) {
            Slot slot = null;
            try {
                slot = new Slot();
                CURRENT.set(slot);
                task.run();
            } catch (RuntimeException | Error e) {
                logFailure(e);
            } finally {
                CURRENT.set(outer);
                task = next(slot);
            }
        }
    }

    /** Never throws: that would end the thread with the next task in its hands. */
    private static void logFailure(Throwable failure) {
        try {
            log.error("a task failed; this is a bug in Podcache or in a listener", failure);
        } catch (Throwable notLogged) {
            // no memory, or a log that fails
        }
    }

    /**
     * Gives the slot of a task that ended to the next task, which it returns; null if there is none.
     *
     * @param slot null if there was no memory for one
     */
    private @Nullable Runnable next(@Nullable Slot slot) {
        synchronized (lock) {
            if (slot != null) {
                calling.remove(slot);
                if (slot.released) {
                    return null;
                }
                slot.released = true;
            }
            Runnable next = waiting.poll();
            if (next == null) {
                running--;
            }
            setTimerLocked();
            return next;
        }
    }

    /** Starts no further task. Running tasks are neither interrupted nor awaited. Idempotent. */
    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
            waiting.clear();
            setTimerLocked();
        }
        if (owned != null) {
            owned.shutdown();
        }
    }
}
