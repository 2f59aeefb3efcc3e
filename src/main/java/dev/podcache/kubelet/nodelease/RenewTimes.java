package dev.podcache.kubelet.nodelease;

import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * The times to write into a lease: the time of day in microseconds, but each later than the one before, whatever the
 * clock does. Used by one call after the other; callers see to it that each sees what the one before did.
 *
 * <p>The node lifecycle controller takes a lease for renewed only if its renewTime is newer than the one it knows,
 * so a node whose clock steps back would be dead until the clock has caught up. Instead the times then go on from
 * the last one at half the pace of real time, until the clock has caught up. Nobody compares these times with a
 * clock, so being ahead does no harm.
 */
final class RenewTimes {

    private static final Duration SMALLEST = Duration.of(1, ChronoUnit.MICROS);

    private final Timekeeper timekeeper;
    private @Nullable Instant last;
    private long lastAt; // nanoseconds

    RenewTimes(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** The time for the next renewal of {@code base}, or for a new lease if that is null. */
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
