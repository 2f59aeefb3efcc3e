package dev.podcache.apiserver.http;

import com.google.common.collect.Comparators;
import java.time.Duration;

/**
 * How long a heartbeat may take: short, so that a dead connection is noticed while the lease still lives, yet longer
 * with each timeout in a row, so that a server that is merely slow is not given up for ever. Thread-safe.
 *
 * <p>It begins at 3 s or a twelfth of the lease's duration, whichever is less, and doubles up to a quarter of the
 * duration, which is the pause between renewals. It returns to its beginning with an answer that would have been in
 * time there: with a server that always takes 4 s it stays where it is, else every other heartbeat would be lost.
 */
final class HeartbeatTimeout {

    private static final Duration LONGEST_FIRST = Duration.ofSeconds(3);

    private final Duration first;
    private final Duration longest;
    private Duration now; // guarded by this

    /**
     * For leases that last {@code leaseDuration}.
     *
     * @throws IllegalArgumentException unless that is at least a second
     */
    HeartbeatTimeout(Duration leaseDuration) {
        if (leaseDuration.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException(
                    "a lease of " + leaseDuration + " leaves no time to renew it: it must last at least 1 s");
        }
        this.first = Comparators.min(leaseDuration.dividedBy(12), LONGEST_FIRST);
        this.longest = leaseDuration.dividedBy(4);
        this.now = first;
    }

    /** What the next heartbeat may take. */
    synchronized Duration now() {
        return now;
    }

    /** A heartbeat was not answered in time. */
    synchronized void missed() {
        now = Comparators.min(now.multipliedBy(2), longest);
    }

    /** A heartbeat was answered, whatever the answer. */
    synchronized void answered(Duration after) {
        if (after.compareTo(first) < 0) {
            now = first;
        }
    }
}
