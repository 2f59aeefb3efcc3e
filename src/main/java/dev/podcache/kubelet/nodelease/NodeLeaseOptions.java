package dev.podcache.kubelet.nodelease;

import java.time.Duration;
import java.util.Objects;

/**
 * Whose lease it is and how long it lasts. Immutable.
 *
 * @param nodeName of the node; its lease has the same name
 * @param leaseDuration the kubelet's {@code nodeLeaseDurationSeconds}; it is renewed at a quarter of that
 * @param onRepeatedFailure upstream's onRepeatedHeartbeatFailure: run after each failure to renew but the first in a
 *     row, such as to dial another API server; must not block
 */
public record NodeLeaseOptions(String nodeName, Duration leaseDuration, Runnable onRepeatedFailure) {

    /** The kubelet's default. */
    public static final Duration DEFAULT_DURATION = Duration.ofSeconds(40);

    private static final int RENEWALS_IN_A_DURATION = 4;

    /**
     * Options.
     *
     * @throws IllegalArgumentException unless the duration is a positive number of whole
     *     seconds that fits an {@code int}
     */
    public NodeLeaseOptions {
        Objects.requireNonNull(nodeName, "nodeName");
        Objects.requireNonNull(onRepeatedFailure, "onRepeatedFailure");
        long seconds = leaseDuration.toSeconds();
        if (seconds < 1 || seconds > Integer.MAX_VALUE || !leaseDuration.equals(Duration.ofSeconds(seconds))) {
            throw new IllegalArgumentException("a lease cannot last " + leaseDuration
                    + ": its duration is a positive number of whole seconds, by default 40");
        }
    }

    /** From one round to the next, but for the jitter. */
    Duration interval() {
        return leaseDuration.dividedBy(RENEWALS_IN_A_DURATION);
    }

    int seconds() {
        return Math.toIntExact(leaseDuration.toSeconds());
    }
}
