package dev.podcache.time;

import java.time.Duration;
import java.time.Instant;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@link Timekeeper#system()}. */
final class SystemTimekeeper implements Timekeeper {

    private static final Logger log = LoggerFactory.getLogger(Timekeeper.class);
    private static final int THREADS_OF_A_POOL = 2;
    private static final Duration IDLE_THREAD_LIVES = Duration.ofSeconds(10);
    private static final Duration CLOSING = Duration.ofSeconds(2);

    private final ScheduledThreadPoolExecutor timer;
    private final ThreadPoolExecutor workers;
    private final ThreadPoolExecutor blocking;
    private final ThreadPoolExecutor urgent;

    SystemTimekeeper() {
        timer = new ScheduledThreadPoolExecutor(1, named("podcache-timer"));
        timer.setRemoveOnCancelPolicy(true);
        timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        timer.setRejectedExecutionHandler((task, executor) -> {});
        workers = pool("podcache-worker");
        blocking = pool("podcache-blocking");
        urgent = pool("podcache-urgent");
    }

    private static ThreadPoolExecutor pool(String name) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                THREADS_OF_A_POOL,
                THREADS_OF_A_POOL,
                IDLE_THREAD_LIVES.toNanos(),
                TimeUnit.NANOSECONDS,
                new LinkedBlockingQueue<>(),
                named(name));
        pool.allowCoreThreadTimeOut(true);
        pool.setRejectedExecutionHandler((task, executor) -> task.run());
        return pool;
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
        workers.shutdown();
        blocking.shutdown();
        urgent.shutdown();
        boolean interrupted = false;
        for (ThreadPoolExecutor executor : new ThreadPoolExecutor[] {timer, workers, blocking, urgent}) {
            try {
                // a close from one of our own threads cannot wait for that thread
                if (!(Thread.currentThread() instanceof OwnThread)) {
                    executor.awaitTermination(CLOSING.toNanos(), TimeUnit.NANOSECONDS);
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

    private static ThreadFactory named(String name) {
        AtomicInteger count = new AtomicInteger();
        return task -> {
            Thread thread = new OwnThread(task, name + "-" + count.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Tells a thread of ours from one that only has a similar name. */
    private static final class OwnThread extends Thread {

        OwnThread(Runnable task, String name) {
            super(task, name);
        }
    }
}
