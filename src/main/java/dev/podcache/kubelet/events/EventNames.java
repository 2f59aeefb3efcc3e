package dev.podcache.kubelet.events;

import dev.podcache.time.Timekeeper;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** Names of events: that of the object, and the time in nanoseconds as a hexadecimal number. Thread-safe. */
final class EventNames {

    private static final int LONGEST = 253;

    private final Timekeeper timekeeper;
    private long last; // guarded by this

    EventNames(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** Another one each time, even if the clock stands or steps back. */
    String next(String object) {
        String suffix = "." + Long.toHexString(nanos());
        int kept = Math.min(object.length(), LONGEST - suffix.length());
        return object.substring(0, kept) + suffix;
    }

    private synchronized long nanos() {
        Instant now = timekeeper.wallTime();
        last = Math.max(last + 1, TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano());
        return last;
    }
}
