package dev.podcache.kubelet.nodelease;

import dev.podcache.time.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * The node and the duration of a Lease. Immutable.
 *
 * @param nodeName the name of the Node, which is also the name of its Lease
 * @param leaseDuration the kubelet's {@code nodeLeaseDurationSeconds}; the Lease is renewed every quarter of it
 * @param onRepeatedFailure upstream's onRepeatedHeartbeatFailure: runs after the second and each further failed renewal
 *     in a row, such as to connect to another API server; must not block
 * @param random the source of jitter, uniform in [0, 1)
 */
public record NodeLeaseOptions(
        String nodeName, Duration leaseDuration, Runnable onRepeatedFailure, DoubleSupplier random) {

    /** The kubelet's default. */
    public static final Duration DEFAULT_DURATION = Duration.ofSeconds(40);

    private static final int RENEWALS_IN_A_DURATION = 4;

    /**
     * Creates options.
     *
     * @throws IllegalArgumentException unless the duration is a positive number of whole seconds that fits an {@code
     *     int}
     */
    public NodeLeaseOptions {
        Objects.requireNonNull(nodeName, "nodeName");
        Objects.requireNonNull(onRepeatedFailure, "onRepeatedFailure");
        Objects.requireNonNull(random, "random");
        long seconds = leaseDuration.toSeconds();
        if (seconds < 1 || seconds > Integer.MAX_VALUE || !leaseDuration.equals(Duration.ofSeconds(seconds))) {
            throw new IllegalArgumentException("leaseDuration must be a positive number of whole seconds, by default"
                    + " 40, but is " + Durations.text(leaseDuration));
        }
    }

    /** Creates options with jitter from {@link ThreadLocalRandom}. */
    public NodeLeaseOptions(String nodeName, Duration leaseDuration, Runnable onRepeatedFailure) {
        this(
                nodeName,
                leaseDuration,
                onRepeatedFailure,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    /** Returns the time from one round to the next, without jitter. */
    public Duration interval() {
        return leaseDuration.dividedBy(RENEWALS_IN_A_DURATION);
    }

    int seconds() {
        return Math.toIntExact(leaseDuration.toSeconds());
    }
}
