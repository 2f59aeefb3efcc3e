package dev.podcache.kubelet.nodelease;

import dev.podcache.time.ApiTime;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Instant;
import java.time.ZonedDateTime;
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

    /*
     * Counts in microseconds since 1970, because this runs with every renewal of every node, and arithmetic on Instants
     * would take longer than the rest of it.
     */

    private static final long MICROS = 1_000_000;
    private static final int NANOS = 1_000;

    private final Timekeeper timekeeper;
    private boolean any;
    private long last; // microseconds
    private long lastAt; // nanoseconds

    RenewTimes(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** Returns the time for the next renewal of {@code base}, or for a new Lease if {@code base} is null. */
    Instant next(@Nullable Lease base) {
        long now = timekeeper.nanoTime();
        Instant wall = timekeeper.wallTime();
        long time = micros(wall.getEpochSecond(), wall.getNano());
        if (any) {
            time = Math.max(time, last + Math.max(1, (now - lastAt) / 2 / NANOS));
        }
        ZonedDateTime known = renewTimeOf(base);
        if (known != null) {
            time = Math.max(time, ApiTime.micros(known) + 1);
        }
        any = true;
        last = time;
        lastAt = now;
        return Instant.ofEpochSecond(Math.floorDiv(time, MICROS), Math.floorMod(time, MICROS) * NANOS);
    }

    private static long micros(long epochSecond, int nanos) {
        return epochSecond * MICROS + nanos / NANOS;
    }

    private static @Nullable ZonedDateTime renewTimeOf(@Nullable Lease lease) {
        return lease == null || lease.getSpec() == null ? null : lease.getSpec().getRenewTime();
    }
}
