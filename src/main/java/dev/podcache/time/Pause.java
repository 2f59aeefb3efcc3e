package dev.podcache.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A delay before the next task of a loop, until it is closed. At most one task waits at any time. Thread-safe; no
 * method blocks.
 */
public final class Pause implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Pause.class);

    private final Timekeeper timekeeper;
    private Timekeeper.@Nullable Scheduled next; // guarded by this
    private boolean closed; // guarded by this

    /**
     * Creates a pause with no task.
     *
     * @param timekeeper not closed
     */
    public Pause(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /**
     * Runs {@code task} on the timer thread after {@code length}. Cancels the task that waits, if there is one. Does
     * nothing after {@link #close()}.
     */
    public synchronized void then(Duration length, Runnable task) {
        if (next != null) {
            next.cancel();
        }
        next = closed ? null : schedule(timekeeper, length, task);
    }

    /**
     * Sets a timer without which a loop would end for ever. If it cannot be set, as without memory, logs that and sets it
     * a second time. Throws what the second attempt throws.
     */
    public static Timekeeper.Scheduled schedule(Timekeeper timekeeper, Duration length, Runnable task) {
        try {
            return timekeeper.schedule(length, task);
        } catch (RuntimeException | Error e) {
            try {
                log.error("a timer could not be set; setting it again", e);
            } catch (RuntimeException | Error notLogged) {
                // no memory for the log either; the timer matters more
            }
            return timekeeper.schedule(length, task);
        }
    }

    /**
     * Returns a future that completes after {@code length}: at once if that is zero, otherwise on the timer thread and
     * as {@link #then} describes. If another task replaces it, or this pause is closed, it never completes.
     */
    public CompletableFuture<@Nullable Void> over(Duration length) {
        CompletableFuture<@Nullable Void> over = new CompletableFuture<>();
        if (length.isZero()) {
            over.complete(null);
        } else {
            then(length, () -> over.complete(null));
        }
        return over;
    }

    /** Cancels the task that waits, and accepts no other. A task that is running continues. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        if (next != null) {
            next.cancel();
            next = null;
        }
    }
}
