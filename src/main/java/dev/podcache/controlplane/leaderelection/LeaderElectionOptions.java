package dev.podcache.controlplane.leaderelection;

import dev.podcache.object.ObjectKey;
import java.math.BigDecimal;
import java.time.Duration;

/**
 * The parameters of a {@link LeaderElector}.
 *
 * @param lease the Lease that candidates compete for
 * @param identity names this candidate; different for each process
 * @param leaseDuration how long the others wait after the last renewal that they saw; whole seconds
 * @param renewDeadline how long after its last renewal a leader gives up
 * @param retryPeriod the pause between tries
 */
public record LeaderElectionOptions(
        ObjectKey lease, String identity, Duration leaseDuration, Duration renewDeadline, Duration retryPeriod) {

    /** Pauses of candidates are lengthened by up to this factor, at random. */
    static final double JITTER = 1.2;

    public LeaderElectionOptions {
        if (identity.isEmpty()) {
            throw new IllegalArgumentException("the identity of a candidate must not be empty");
        }
        if (leaseDuration.toSeconds() > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("--leader-elect-lease-duration must be at most " + Integer.MAX_VALUE
                    + " s, because a Lease cannot hold more, but is " + seconds(leaseDuration));
        }
        if (leaseDuration.compareTo(renewDeadline) <= 0) {
            throw new IllegalArgumentException(
                    "--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline, but they are "
                            + seconds(leaseDuration) + " and " + seconds(renewDeadline));
        }
        if (retryPeriod.isNegative() || retryPeriod.isZero()) {
            throw new IllegalArgumentException(
                    "--leader-elect-retry-period must be positive, but is " + seconds(retryPeriod));
        }
        if (renewDeadline.compareTo(retryPeriod) <= 0 || renewDeadline.toNanos() <= retryPeriod.toNanos() * JITTER) {
            throw new IllegalArgumentException("--leader-elect-renew-deadline must be more than " + JITTER
                    + " times --leader-elect-retry-period, but they are " + seconds(renewDeadline) + " and "
                    + seconds(retryPeriod));
        }
        if (leaseDuration.toSeconds() < 1 || !leaseDuration.equals(Duration.ofSeconds(leaseDuration.toSeconds()))) {
            throw new IllegalArgumentException(
                    "--leader-elect-lease-duration must be whole seconds, at least 1 s, but is "
                            + seconds(leaseDuration));
        }
    }

    private static String seconds(Duration duration) {
        return BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros().toPlainString() + " s";
    }
}
