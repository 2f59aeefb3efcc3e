package dev.podcache.time;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Implements {@link Timekeeper#system()}. */
final class SystemTimekeeper implements Timekeeper {

    private static final Logger log = LoggerFactory.getLogger(Timekeeper.class);
    private static final int POOL_THREADS = 2;
    private static final Duration IDLE_THREAD_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    /** The pause before a retry when the system cannot start a thread. */
    private static final Duration NO_THREAD_PAUSE = Duration.ofSeconds(1);

    private final ScheduledThreadPoolExecutor timer;
    private final Pool workers;
    private final Pool blocking;
    private final Pool urgent;
    private final Function<String, ThreadFactory> threads;

    SystemTimekeeper() {
        this(SystemTimekeeper::named);
    }

    /** Makes a timekeeper that gets the factory of its threads by their name. */
    SystemTimekeeper(Function<String, ThreadFactory> threads) {
        this.threads = threads;
        timer = new ScheduledThreadPoolExecutor(1, threads.apply("podcache-timer"));
        timer.setRemoveOnCancelPolicy(true);
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        timer.setRejectedExecutionHandler((task, executor) -> {});
        // the timer retries tasks for which a pool has no thread, so its own thread must exist from the beginning
        timer.prestartCoreThread();
        workers = new Pool("podcache-worker");
        blocking = new Pool("podcache-blocking");
        urgent = new Pool("podcache-urgent");
    }

    /** Threads that end when idle and start again when there is work. */
    private final class Pool implements Executor {

        private final String name;
        private final ThreadPoolExecutor executor;

        Pool(String name) {
            this.name = name;
            executor = new ThreadPoolExecutor(
                    POOL_THREADS,
                    POOL_THREADS,
                    IDLE_THREAD_TIMEOUT.toNanos(),
                    TimeUnit.NANOSECONDS,
                    new LinkedBlockingQueue<>(),
                    threads.apply(name));
            executor.allowCoreThreadTimeOut(true);
            executor.setRejectedExecutionHandler((task, closed) -> task.run());
        }

        @Override
        public void execute(Runnable task) {
            try {
                executor.execute(task);
            } catch (OutOfMemoryError noThread) {
                log.warn("cannot start a thread {} ({}); retrying in {}", name, noThread.getMessage(), NO_THREAD_PAUSE);
                schedule(NO_THREAD_PAUSE, () -> execute(task));
            }
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Instant wallTime() {
        return Instant.now();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        Future<?> scheduled = timer.schedule(() -> runLogged(task), saturatedNanos(delay), TimeUnit.NANOSECONDS);
        return () -> scheduled.cancel(false);
    }

    @Override
    public Executor workers() {
        return workers;
    }

    @Override
    public Executor blocking() {
        return blocking;
    }

    @Override
    public Executor urgent() {
        return urgent;
    }

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        try {
            future.get(saturatedNanos(timeout), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException stillRunning) {
            return false;
        } catch (ExecutionException | CancellationException ended) {
            return true;
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
        workers.executor.shutdown();
        blocking.executor.shutdown();
        urgent.executor.shutdown();
        boolean interrupted = false;
        for (ThreadPoolExecutor executor : List.of(timer, workers.executor, blocking.executor, urgent.executor)) {
            try {
                // a thread of the timekeeper cannot wait for its own end
                if (!(Thread.currentThread() instanceof OwnThread)) {
                    executor.awaitTermination(CLOSE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
                }
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void runLogged(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            log.error("a scheduled task failed; this is a bug in Podcache or in a listener", e);
            if (e instanceof VirtualMachineError) {
                throw e;
            }
        }
    }

    private static long saturatedNanos(Duration duration) {
        return TimeUnit.NANOSECONDS.convert(duration);
    }

    static ThreadFactory named(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new OwnThread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** A thread of a timekeeper, as opposed to one with a similar name. */
    private static final class OwnThread extends Thread {

        OwnThread(Runnable task, String name) {
            super(task, name);
        }
    }
}
