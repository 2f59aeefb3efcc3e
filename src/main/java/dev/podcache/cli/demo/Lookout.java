package dev.podcache.cli.demo;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import dev.podcache.cli.observe.Changes;
import dev.podcache.cli.observe.Observer;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Reads what the demo has changed, every few milliseconds, until the change is seen: a measurement finer than the
 * readers' period. It asks little of a server even where each read is a request, because then the first one sees it.
 */
final class Lookout implements AutoCloseable {

    private static final int LOOK_MILLIS = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(new ThreadFactoryBuilder()
            .setNameFormat("demo-lookout")
            .setDaemon(true)
            .build());
    private final Observer agent;
    private final Changes changes;
    private volatile boolean closed;

    Lookout(Observer agent, Changes changes) {
        this.agent = agent;
        this.changes = changes;
    }

    /** Begins to look; returns at once. */
    void lookFor(ObjectKind<?> kind, ObjectKey key) {
        timer.execute(() -> look(kind, key, System.nanoTime() + PATIENCE.toNanos()));
    }

    private void look(ObjectKind<?> kind, ObjectKey key, long until) {
        if (closed) {
            return;
        }
        agent.look(kind, key);
        if (changes.isAwaited(kind, key) && System.nanoTime() - until < 0) {
            try {
                timer.schedule(() -> look(kind, key, until), LOOK_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException closed) {
                // the demo is over
            }
        }
    }

    /** Looks no more. A look that is under way ends by itself. Idempotent. */
    @Override
    public void close() {
        closed = true;
        timer.shutdown();
    }
}
