package dev.podcache.kubelet.events;

import dev.podcache.time.Timekeeper;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** Generates names of events: the object's name, and the time in nanoseconds as a hexadecimal number. Thread-safe. */
final class EventNames {

    private static final int MAX_LENGTH = 253;

    private final Timekeeper timekeeper;
    private long last; // guarded by this

    EventNames(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** Returns a name that no earlier call returned, even if the clock stands still or steps back. */
    String next(String object) {
        String suffix = "." + Long.toHexString(nanos());
        int kept = Math.min(object.length(), MAX_LENGTH - suffix.length());
        return object.substring(0, kept) + suffix;
    }

    private synchronized long nanos() {
        Instant now = timekeeper.wallTime();
        last = Math.max(last + 1, TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano());
        return last;
    }
}
