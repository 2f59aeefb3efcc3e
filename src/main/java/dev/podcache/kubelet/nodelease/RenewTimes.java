package dev.podcache.kubelet.nodelease;

import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * Computes the renewTime of a Lease: the wall-clock time in microseconds, but always later than the one before,
 * whatever the clock does. Not thread-safe: calls must happen one after the other, each visible to the next.
 *
 * <p>The node lifecycle controller regards a Lease as renewed only if its renewTime is newer than the one it knows. A
 * node whose clock steps back would therefore be dead until the clock has caught up. Instead, the times continue from
 * the last one at half the speed of real time, until the clock has caught up. No component compares these times with a
 * clock, so a renewTime in the future does no harm.
 */
final class RenewTimes {

    private static final Duration SMALLEST = Duration.of(1, ChronoUnit.MICROS);

    private final Timekeeper timekeeper;
    private @Nullable Instant last;
    private long lastAt; // nanoseconds

    RenewTimes(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** Returns the time for the next renewal of {@code base}, or for a new Lease if {@code base} is null. */
    Instant next(@Nullable Lease base) {
        long now = timekeeper.nanoTime();
        Instant time = timekeeper.wallTime();
        if (last != null) {
            time = later(time, last.plus(later(Duration.ofNanos((now - lastAt) / 2), SMALLEST)));
        }
        Instant known = renewTimeOf(base);
        if (known != null) {
            time = later(time, known.plus(SMALLEST));
        }
        time = time.truncatedTo(ChronoUnit.MICROS);
        last = time;
        lastAt = now;
        return time;
    }

    private static @Nullable Instant renewTimeOf(@Nullable Lease lease) {
        ZonedDateTime time = lease == null || lease.getSpec() == null
                ? null
                : lease.getSpec().getRenewTime();
        return time == null ? null : time.toInstant();
    }

    private static <C extends Comparable<C>> C later(C a, C b) {
        return a.compareTo(b) >= 0 ? a : b;
    }
}
