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
    private @Nullable Object dialler; // whose attempt is the one permitted; null for nobody
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
     * @param who identifies the attempt in the report
     * @return null if the caller may dial, else why the server cannot be reached
     */
    synchronized @Nullable Throwable tryEnter(Object who) {
        if (cause == null) {
            return null;
        }
        if (dialler != null || timekeeper.nanoTime() - nextDial < 0) {
            return cause;
        }
        dialler = who;
        return null;
    }

    /** Returns whether the one permitted attempt is running, whose result decides for all others. */
    synchronized boolean isDialling() {
        return cause != null && dialler != null;
    }

    /** Reports that the server was reached. */
    void reached() {
        boolean before;
        synchronized (this) {
            before = cause == null;
            cause = null;
            dialler = null;
            backoff.reset();
        }
        if (!before) {
            observers.forEach(Runnable::run);
        }
    }

    /** Reports that the server could not be reached, or did not answer with HTTP. */
    void failed(Object who, Throwable why) {
        synchronized (this) {
            long now = timekeeper.nanoTime();
            if (cause == null) {
                unreachableSince = now;
            } else if (!who.equals(dialler)) {
                // several attempts were running when the first one failed, which counts for all of them
                return;
            }
            cause = why;
            dialler = null;
            nextDial = now
                    + backoff.pause(Duration.ofNanos(now - unreachableSince), random.getAsDouble())
                            .toNanos();
        }
        observers.forEach(Runnable::run);
    }

    /** Reports that an attempt ended without a result, because it is not needed any more. */
    void abandoned(Object who) {
        synchronized (this) {
            if (!who.equals(dialler)) {
                return;
            }
            dialler = null;
        }
        observers.forEach(Runnable::run);
    }
}
