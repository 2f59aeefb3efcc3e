package dev.podcache.cli.observe;

import com.google.common.util.concurrent.MoreExecutors;
import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Threads that run tasks until closed, once or periodically. A periodic task that throws is logged and runs again. */
public final class PeriodicTasks implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PeriodicTasks.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

    private final String name;
    private final ScheduledExecutorService executor;

    public PeriodicTasks(String name, int threads) {
        this.name = name;
        this.executor = Executors.newScheduledThreadPool(
                threads,
                new ThreadFactoryBuilder()
                        .setNameFormat(name + "-%d")
                        .setDaemon(true)
                        .build());
    }

    /** Runs {@code task} after {@code delay}, and then once a period. */
    public void every(Duration delay, Duration period, Runnable task) {
        executor.scheduleAtFixedRate(() -> runGuarded(task), delay.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Runs {@code task} once. Returns false if closed. */
    boolean run(Runnable task) {
        try {
            executor.execute(task);
            return true;
        } catch (RejectedExecutionException closed) {
            return false;
        }
    }

    private void runGuarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            // what is thrown would end all later runs
            log.error("{}: a task failed; it runs again in the next period", name, e);
        }
    }

    /** Starts no further task, and waits up to 2 s for those that run. Idempotent. */
    @Override
    public void close() {
        MoreExecutors.shutdownAndAwaitTermination(executor, CLOSE_TIMEOUT);
    }
}
