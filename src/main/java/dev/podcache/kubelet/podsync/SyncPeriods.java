package dev.podcache.kubelet.podsync;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * The periods after which a pod is synced again if it does not change, and after which its containers are restarted. The
 * former are extended at random by up to half their length, so that the syncs of many pods spread over time.
 *
 * @param settled the period after a complete sync
 * @param failed the period after a sync that failed, or that lacks a Secret or ConfigMap
 * @param longestRestart the longest pause before a container that has ended is restarted
 */
public record SyncPeriods(Duration settled, Duration failed, Duration longestRestart) {

    private static final Duration FAILED = Duration.ofSeconds(10);
    private static final Duration LONGEST_RESTART = Duration.ofMinutes(5);

    /**
     * Returns the kubelet's periods.
     *
     * @param syncFrequency the kubelet's option of that name, by default one minute
     */
    public static SyncPeriods of(Duration syncFrequency) {
        return new SyncPeriods(syncFrequency, FAILED, LONGEST_RESTART);
    }

    /** Returns these periods with another longest pause before a restart. */
    public SyncPeriods withLongestRestart(Duration value) {
        return new SyncPeriods(settled, failed, value);
    }

    /** Returns the mean time between two syncs of a pod that does not change. */
    public Duration meanSettled() {
        return jittered(settled, () -> 0.5);
    }

    /**
     * Returns a period extended at random by up to half its length.
     *
     * @param random uniform in [0, 1)
     */
    static Duration jittered(Duration period, DoubleSupplier random) {
        return period.plusNanos((long) (period.toNanos() * random.getAsDouble() / 2));
    }
}
