package dev.podcache.kubelet.nodestatus;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What comes next after a while, one thing at a time, until it is closed. Thread-safe. */
final class Pause implements AutoCloseable {

    private final Timekeeper timekeeper;
    private Timekeeper.@Nullable Scheduled next; // guarded by this
    private boolean closed; // guarded by this

    Pause(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** Runs {@code task} after {@code length} on the timer thread, instead of what was to come before. */
    synchronized void then(Duration length, Runnable task) {
        if (next != null) {
            next.cancel();
        }
        next = closed ? null : timekeeper.schedule(length, task);
    }

    /**
     * Done, on the timer thread, when {@code length} is over, or at once if that is zero; once closed perhaps never.
     */
    CompletableFuture<@Nullable Void> over(Duration length) {
        CompletableFuture<@Nullable Void> over = new CompletableFuture<>();
        if (length.isZero()) {
            over.complete(null);
        } else {
            then(length, () -> over.complete(null));
        }
        return over;
    }

    /** Nothing comes next any more. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        if (next != null) {
            next.cancel();
            next = null;
        }
    }
}
