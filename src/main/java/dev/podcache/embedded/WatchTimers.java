package dev.podcache.embedded;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The timers of one watch: its next bookmark and its timeout. After {@link #stop}, no timer runs. Thread-safe. */
final class WatchTimers {

    // Each start method writes its timer before it reads stopped. stop() writes stopped before it reads the timers. So
    // if both run concurrently, at least one of them cancels the timer.

    private final Timekeeper timekeeper;
    private volatile Timekeeper.@Nullable Scheduled bookmark;
    private volatile Timekeeper.@Nullable Scheduled timeout;
    private volatile boolean stopped;

    WatchTimers(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    void startBookmark(Duration period, Runnable task) {
        bookmark = timekeeper.schedule(period, task);
        cancelIfStopped();
    }

    void startTimeout(Duration after, Runnable task) {
        timeout = timekeeper.schedule(after, task);
        cancelIfStopped();
    }

    void stop() {
        stopped = true;
        cancelIfStopped();
    }

    private void cancelIfStopped() {
        if (stopped) {
            cancel(bookmark);
            cancel(timeout);
        }
    }

    private static void cancel(Timekeeper.@Nullable Scheduled timer) {
        if (timer != null) {
            timer.cancel();
        }
    }
}
