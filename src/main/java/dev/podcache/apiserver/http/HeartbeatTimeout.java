package dev.podcache.apiserver.http;

import com.google.common.collect.Comparators;
import dev.podcache.time.Durations;
import java.time.Duration;

/**
 * The timeout of heartbeats. It is short, so that a dead connection is noticed before the lease expires, and grows with
 * each consecutive timeout, so that a slow server still gets heartbeats. Thread-safe.
 *
 * <p>The timeout starts at 3 s or a twelfth of the lease duration, whichever is less. It doubles up to a quarter of the
 * lease duration, which is the interval between renewals. It returns to the start only after an answer that was fast
 * enough for the start value. Otherwise a server that always takes 4 s would miss every other heartbeat.
 */
final class HeartbeatTimeout {

    private static final Duration LONGEST_FIRST = Duration.ofSeconds(3);

    private final Duration first;
    private final Duration longest;
    private Duration now; // guarded by this

    /**
     * Creates the timeout for leases of {@code leaseDuration}.
     *
     * @throws IllegalArgumentException if {@code leaseDuration} is less than 1 s
     */
    HeartbeatTimeout(Duration leaseDuration) {
        Durations.atLeast(Duration.ofSeconds(1), "the lease duration", leaseDuration);
        this.first = Comparators.min(leaseDuration.dividedBy(12), LONGEST_FIRST);
        this.longest = leaseDuration.dividedBy(4);
        this.now = first;
    }

    /** Returns the timeout of the next heartbeat. */
    synchronized Duration now() {
        return now;
    }

    /** Reports that a heartbeat timed out. */
    synchronized void missed() {
        now = Comparators.min(now.multipliedBy(2), longest);
    }

    /** Reports an answer, with any status, {@code elapsed} after the request. */
    synchronized void answered(Duration elapsed) {
        if (elapsed.compareTo(first) < 0) {
            now = first;
        }
    }
}
