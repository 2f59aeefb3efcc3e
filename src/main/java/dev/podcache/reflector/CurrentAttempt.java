package dev.podcache.reflector;

import dev.podcache.apiserver.WatchHandle;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The current attempt of a {@link ReflectorLoop}, with its watch and its watchdog, which both end with it.
 * Thread-safe.
 */
final class CurrentAttempt extends Watchdogs.Watchdog {

    private final Watchdogs watchdogs;
    private final Steps steps;
    private int number; // guarded by this, like all that follows; 0 before the first
    private boolean closed;
    private @Nullable WatchHandle handle;
    private @Nullable Runnable whenLate; // null if the watchdog is not set

    /** Makes an attempt that has not begun. Its watchdog runs one of {@code steps}. */
    CurrentAttempt(Watchdogs watchdogs, Steps steps) {
        this.watchdogs = watchdogs;
        this.steps = steps;
    }

    /** Begins attempt 1. Returns false if it began before or the loop is closed. */
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

    /** Ends attempt {@code attempt} unless it has ended. Returns the number of the next attempt. */
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

    /** Ends the current attempt for good. Returns whether the loop had begun and was not closed before. */
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

    /** Keeps the watch of an attempt until the attempt ends; closes it now if the attempt has ended. */
    void watches(int attempt, WatchHandle opened) {
        synchronized (this) {
            if (is(attempt)) {
                handle = opened;
                return;
            }
        }
        opened.close();
    }

    /** Replaces the watchdog of an attempt, unless the attempt has ended. */
    synchronized void watchdog(int attempt, Duration due, Runnable step) {
        if (is(attempt)) {
            whenLate = step;
            watchdogs.set(this, due);
        }
    }

    private void cancelWatchdogLocked() {
        if (whenLate != null) {
            whenLate = null;
            watchdogs.cancel(this);
        }
    }

    @Override
    void fired() {
        Runnable step;
        synchronized (this) {
            // it may have been set again since it was due
            step = watchdogs.isSet(this) ? null : whenLate;
        }
        if (step != null) {
            steps.run(step);
        }
    }

    private static void close(@Nullable WatchHandle open) {
        if (open != null) {
            open.close();
        }
    }
}
