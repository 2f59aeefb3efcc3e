package dev.podcache.apiserver.http;

import dev.podcache.time.OutageBackoff;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits the attempts to dial a server that cannot be reached: one at a time, after a pause by {@link OutageBackoff}.
 * Any success lifts the limit. Thread-safe.
 */
final class DialGate {

    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private @Nullable Throwable cause; // guarded by this, like the fields below; null while the server can be reached
    private long unreachableSince;
    private long nextDial;
    private final OutageBackoff backoff = new OutageBackoff();
    private boolean dialling;
    private final List<Runnable> observers = new CopyOnWriteArrayList<>();

    /**
     * Creates a gate that is open.
     *
     * @param random uniform in [0, 1)
     */
    DialGate(Timekeeper timekeeper, DoubleSupplier random) {
        this.timekeeper = timekeeper;
        this.random = random;
    }

    /** Runs {@code observer}, under no lock, whenever the result of {@link #tryEnter} may have changed. */
    void observe(Runnable observer) {
        observers.add(observer);
    }

    /**
     * Asks for permission to dial. A caller that gets it must report {@link #reached}, {@link #failed} or {@link
     * #abandoned}.
     *
     * @return null if the caller may dial, else why the server cannot be reached
     */
    synchronized @Nullable Throwable tryEnter() {
        if (cause == null) {
            return null;
        }
        if (dialling || timekeeper.nanoTime() - nextDial < 0) {
            return cause;
        }
        dialling = true;
        return null;
    }

    /** Returns whether the one permitted attempt is running, whose result decides for all others. */
    synchronized boolean isDialling() {
        return cause != null && dialling;
    }

    /** Reports that the server was reached. */
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

    /** Reports that the server could not be reached, or did not answer with HTTP. */
    void failed(Throwable why) {
        synchronized (this) {
            long now = timekeeper.nanoTime();
            if (cause == null) {
                unreachableSince = now;
            } else if (!dialling) {
                // several attempts were running, and the first failure has already been counted
                return;
            }
            cause = why;
            dialling = false;
            nextDial = now
                    + backoff.pause(Duration.ofNanos(now - unreachableSince), random.getAsDouble())
                            .toNanos();
        }
        observers.forEach(Runnable::run);
    }

    /** Reports that an attempt ended without a result, because it is not needed any more. */
    void abandoned() {
        synchronized (this) {
            dialling = false;
        }
        observers.forEach(Runnable::run);
    }
}
