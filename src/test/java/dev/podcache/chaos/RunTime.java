package dev.podcache.chaos;

import java.time.Duration;
import java.util.Locale;

/** The time of a run, in nanoseconds since its beginning: never negative, so that it can be compared with {@code <}. */
final class RunTime {

    private final long origin = System.nanoTime();

    long now() {
        return System.nanoTime() - origin;
    }

    static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.3f s", Duration.ofNanos(nanos).toMillis() / 1000.0);
    }
}
