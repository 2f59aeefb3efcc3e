package dev.podcache.reflector;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The watchdogs of all reflectors of one API server, on one timer: a timer for each of thousands of watches would need
 * as much memory as a small object. Thread-safe.
 */
final class Watchdogs {

    /*
     * A binary heap, the earliest first. Each watchdog knows its place, so that it can be moved and removed without a
     * search. Free places are null.
     */

    private static final Logger log = LoggerFactory.getLogger(Reflector.class);

    private final Timekeeper timekeeper;
    private @Nullable Watchdog[] heap = new Watchdog[16]; // guarded by this, like all that follows
    private int size;
    private Timekeeper.@Nullable Scheduled timer;
    private long timerAt;

    Watchdogs(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** The watchdog of one reflector. It fires once for each time that it is set. */
    abstract static class Watchdog {

        private static final int UNSET = -1;

        private long due; // guarded by the Watchdogs, like the next
        private int place = UNSET;

        /** Handles that the time is over. Called on the timer's thread, under no lock. */
        abstract void fired();
    }

    /** Has {@code watchdog} fire after {@code delay}, instead of when it was set to before. */
    synchronized void set(Watchdog watchdog, Duration delay) {
        removeLocked(watchdog);
        long now = timekeeper.nanoTime();
        watchdog.due = now + Math.max(0, delay.toNanos());
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size + size / 4 + 1);
        }
        size++;
        moveUpLocked(watchdog, size - 1);
        setTimerLocked(now);
    }

    /** Prevents {@code watchdog} from firing, unless it fires already. */
    synchronized void cancel(Watchdog watchdog) {
        if (watchdog.place != Watchdog.UNSET) {
            removeLocked(watchdog);
            setTimerLocked(timekeeper.nanoTime());
        }
    }

    /** Returns whether {@code watchdog} will fire. */
    synchronized boolean isSet(Watchdog watchdog) {
        return watchdog.place != Watchdog.UNSET;
    }

    private void fired(long at) {
        synchronized (this) {
            timer = timerAt == at ? null : timer;
        }
        boolean over = false;
        try {
            for (Watchdog due = takeDue(); due != null; due = takeDue()) {
                fire(due);
            }
            over = true;
        } finally {
            if (!over) {
                // those that are due too fire soon
                synchronized (this) {
                    setTimerLocked(timekeeper.nanoTime());
                }
            }
        }
    }

    private static void fire(Watchdog due) {
        try {
            due.fired();
        } catch (RuntimeException | Error e) {
            log.error("a watchdog threw; this is a bug in Podcache", e);
        }
    }

    private synchronized @Nullable Watchdog takeDue() {
        long now = timekeeper.nanoTime();
        Watchdog first = heap[0];
        if (first != null && first.due - now <= 0) {
            removeLocked(first);
            return first;
        }
        setTimerLocked(now);
        return null;
    }

    private void setTimerLocked(long now) {
        Watchdog first = heap[0];
        // a timer that is early is kept: most watchdogs are set anew long before they fire
        if (timer != null && (first == null || first.due - timerAt < 0)) {
            timer.cancel();
            timer = null;
        }
        if (timer == null && first != null) {
            long at = first.due;
            timerAt = at;
            timer = timekeeper.schedule(Duration.ofNanos(Math.max(0, at - now)), () -> fired(at));
        }
    }

    private void removeLocked(Watchdog watchdog) {
        int place = watchdog.place;
        if (place == Watchdog.UNSET) {
            return;
        }
        watchdog.place = Watchdog.UNSET;
        size--;
        Watchdog last = heap[size];
        heap[size] = null;
        if (last != null && last != watchdog) {
            moveUpLocked(last, place);
            moveDownLocked(last);
        }
    }

    /** Puts {@code watchdog} at the free {@code place}, or above it if it is earlier than what is there. */
    private void moveUpLocked(Watchdog watchdog, int place) {
        int at = place;
        while (at > 0) {
            Watchdog above = heap[(at - 1) / 2];
            if (above == null || above.due - watchdog.due <= 0) {
                break;
            }
            putLocked(above, at);
            at = (at - 1) / 2;
        }
        putLocked(watchdog, at);
    }

    private void moveDownLocked(Watchdog watchdog) {
        int at = watchdog.place;
        for (Watchdog below = earlierBelowLocked(at); below != null; below = earlierBelowLocked(at)) {
            if (watchdog.due - below.due <= 0) {
                break;
            }
            int free = below.place;
            putLocked(below, at);
            at = free;
        }
        putLocked(watchdog, at);
    }

    private @Nullable Watchdog earlierBelowLocked(int place) {
        int left = 2 * place + 1;
        Watchdog first = left < size ? heap[left] : null;
        Watchdog second = left + 1 < size ? heap[left + 1] : null;
        return first == null || second == null || first.due - second.due <= 0 ? first : second;
    }

    private void putLocked(Watchdog watchdog, int place) {
        heap[place] = watchdog;
        watchdog.place = place;
    }
}
