package dev.podcache.reflector;

import dev.podcache.apiserver.WatchHandle;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Which attempt of a {@link ReflectorLoop} is the current one, and what ends with it: its watch, and the timer that
 * looks whether that is alive. Thread-safe.
 */
final class CurrentAttempt {

    private int number; // guarded by this, like all that follows; 0 before the first
    private boolean closed;
    private @Nullable WatchHandle handle;
    private Timekeeper.@Nullable Scheduled watchdog;

    /** Makes the first attempt, with number 1, the current one; false if there was one, or it is closed. */
    synchronized boolean begin() {
        if (number > 0 || closed) {
            return false;
        }
        number = 1;
        return true;
    }

    synchronized boolean is(int attempt) {
        return attempt == number && !closed;
    }

    synchronized int number() {
        return number;
    }

    /** Ends an attempt unless it is over; returns the number of the one after it. */
    int after(int attempt) {
        WatchHandle open = null;
        synchronized (this) {
            if (attempt == number) {
                open = endLocked();
            }
        }
        close(open);
        return attempt + 1;
    }

    /** Ends the current attempt for good; whether there was one, and this is the first time. */
    boolean close() {
        boolean first;
        WatchHandle open;
        synchronized (this) {
            first = number > 0 && !closed;
            closed = true;
            open = endLocked();
        }
        close(open);
        return first;
    }

    private @Nullable WatchHandle endLocked() {
        number++;
        WatchHandle open = handle;
        handle = null;
        cancelWatchdogLocked();
        return open;
    }

    /** Keeps the watch of an attempt, or closes it if the attempt is over. */
    void watches(int attempt, WatchHandle opened) {
        synchronized (this) {
            if (is(attempt)) {
                handle = opened;
                return;
            }
        }
        opened.close();
    }

    /** Sets the timer of an attempt, in place of the one before, unless the attempt is over. */
    synchronized void watchdog(int attempt, Timekeeper timekeeper, Duration due, Runnable task) {
        if (is(attempt)) {
            cancelWatchdogLocked();
            watchdog = timekeeper.schedule(due, task);
        }
    }

    private void cancelWatchdogLocked() {
        if (watchdog != null) {
            watchdog.cancel();
            watchdog = null;
        }
    }

    private static void close(@Nullable WatchHandle open) {
        if (open != null) {
            open.close();
        }
    }
}
