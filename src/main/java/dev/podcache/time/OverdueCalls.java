package dev.podcache.time;

import java.time.Duration;
import java.util.Optional;

/**
 * Notices calls of foreign code that do not return in time, and that they return after all. A call costs one timer, and
 * nothing is polled. Thread-safe; no method blocks.
 */
public final class OverdueCalls {

    private final String what;
    private final Duration limit;
    private final Timekeeper timekeeper;
    private final Runnable changed;
    private int overdue; // guarded by this

    /**
     * Creates an instance that knows of no call.
     *
     * @param what the calls, for {@link #problem}, such as {@code PodRuntime.pods()}
     * @param limit how long a call may take
     * @param changed called when a call has become overdue, and when no call is overdue any more; must not block
     */
    public OverdueCalls(String what, Duration limit, Timekeeper timekeeper, Runnable changed) {
        this.what = what;
        this.limit = limit;
        this.timekeeper = timekeeper;
        this.changed = changed;
    }

    /** Marks the beginning of a call. Cancel the result when the call returns or throws. */
    public Timekeeper.Scheduled begin() {
        TimedCall call = new TimedCall();
        Timekeeper.Scheduled timer = timekeeper.schedule(limit, call::isLate);
        return () -> {
            timer.cancel();
            call.ended();
        };
    }

    /** Returns that a call has not returned in time; empty if all have. */
    public synchronized Optional<String> problem() {
        return overdue == 0
                ? Optional.empty()
                : Optional.of(what + " has not returned for " + limit.toSeconds() + " s");
    }

    private final class TimedCall {

        private boolean late; // guarded by OverdueCalls.this, like the next
        private boolean over;

        void isLate() {
            boolean isFirst;
            synchronized (OverdueCalls.this) {
                if (over) {
                    return;
                }
                late = true;
                overdue++;
                isFirst = overdue == 1;
            }
            if (isFirst) {
                changed.run();
            }
        }

        void ended() {
            boolean wasLast;
            synchronized (OverdueCalls.this) {
                boolean counts = late && !over;
                over = true;
                if (counts) {
                    overdue--;
                }
                wasLast = counts && overdue == 0;
            }
            if (wasLast) {
                changed.run();
            }
        }
    }
}
