package dev.podcache.apiserver.http;

import dev.podcache.time.OutageBackoff;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a server that could not be reached may be dialled again: one attempt at a time, after each pause of {@link
 * OutageBackoff}. Any success ends it. Thread-safe.
 */
final class DialGate {

    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private @Nullable Throwable cause; // guarded by this, like all that follows; null while the server can be reached
    private long since;
    private long next;
    private final OutageBackoff backoff = new OutageBackoff();
    private boolean dialling;
    private final List<Runnable> observers = new CopyOnWriteArrayList<>();

    /**
     * An open one.
     *
     * @param random uniform in [0, 1)
     */
    DialGate(Timekeeper timekeeper, DoubleSupplier random) {
        this.timekeeper = timekeeper;
        this.random = random;
    }

    /** Has {@code observer} run, under no lock, whenever it may have changed who may dial. */
    void observe(Runnable observer) {
        observers.add(observer);
    }

    /**
     * Asks to dial. Whoever may must report {@link #reached}, {@link #failed} or {@link #givenUp}.
     *
     * @return null if it may, else why it may not
     */
    synchronized @Nullable Throwable enter() {
        if (cause == null) {
            return null;
        }
        if (dialling || timekeeper.nanoTime() - next < 0) {
            return cause;
        }
        dialling = true;
        return null;
    }

    /** Whether somebody dials, whose success lets all others in and whose failure tells them why not. */
    synchronized boolean isProbed() {
        return cause != null && dialling;
    }

    /** The server was reached. */
    void reached() {
        boolean before;
        synchronized (this) {
            before = cause == null;
            cause = null;
            dialling = false;
            backoff.reset();
        }
        if (!before) {
            observers.forEach(Runnable::run);
        }
    }

    /** The server could not be reached, or does not speak HTTP with us. */
    void failed(Throwable why) {
        synchronized (this) {
            long now = timekeeper.nanoTime();
            if (cause == null) {
                since = now;
            } else if (!dialling) {
                // one of several that were dialling when the first of them failed
                return;
            }
            cause = why;
            dialling = false;
            next = now
                    + backoff.pause(Duration.ofNanos(now - since), random.getAsDouble())
                            .toNanos();
        }
        observers.forEach(Runnable::run);
    }

    /** An attempt ended that nobody wants any more. */
    void givenUp() {
        synchronized (this) {
            dialling = false;
        }
        observers.forEach(Runnable::run);
    }
}
