package dev.podcache.controlplane.cluster;

import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the tasks of controllers one at a time, in the order in which they were submitted, on the workers of a {@link
 * Timekeeper}. State that only tasks of one loop use needs no lock. A task that throws is logged, and the next one
 * runs. A task that another task submits runs after it. Thread-safe; no method blocks.
 */
public final class ControllerLoop implements Executor, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ControllerLoop.class);

    private final Timekeeper timekeeper;
    private final Executor tasks;
    private volatile boolean closed;

    /**
     * Creates a loop.
     *
     * @param timekeeper not closed; if its workers run tasks on the calling thread, so does this loop
     */
    public ControllerLoop(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.tasks = MoreExecutors.newSequentialExecutor(timekeeper.workers());
    }

    /** Runs {@code task} after the tasks that were submitted before. Does nothing after {@link #close()}. */
    @Override
    public void execute(Runnable task) {
        if (!closed) {
            tasks.execute(() -> run(task));
        }
    }

    /** Submits {@code task} after {@code delay}, unless it is cancelled before it begins. */
    public Timekeeper.Scheduled schedule(Duration delay, Runnable task) {
        AtomicBoolean cancelled = new AtomicBoolean();
        Timekeeper.Scheduled timer = timekeeper.schedule(
                delay,
                () -> execute(() -> {
                    if (!cancelled.get()) {
                        task.run();
                    }
                }));
        return () -> {
            cancelled.set(true);
            timer.cancel();
        };
    }

    /** Returns a future that a task of this loop completes after {@code delay}. */
    public CompletableFuture<@Nullable Void> after(Duration delay) {
        CompletableFuture<@Nullable Void> over = new CompletableFuture<>();
        schedule(delay, () -> over.complete(null));
        return over;
    }

    /**
     * Submits {@code next} when {@code answer} is complete, with its value or its failure.
     *
     * @param next gets null for the value if there is a failure, and null for the failure if there is none
     */
    public <T> void whenDone(CompletableFuture<T> answer, BiConsumer<@Nullable T, @Nullable Throwable> next) {
        answer.whenComplete((value, failure) -> execute(() -> next.accept(value, failure)));
    }

    /** Returns the source of time of this loop. */
    public Timekeeper timekeeper() {
        return timekeeper;
    }

    /** Begins no further task, and drops those that wait. A running task continues. Idempotent. */
    @Override
    public void close() {
        closed = true;
    }

    private void run(Runnable task) {
        if (closed) {
            return;
        }
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            log.error("a task of a controller threw; this is a bug; the controller continues", e);
        }
    }
}
