package dev.podcache.kubelet.podsync;

import java.time.Duration;

/**
 * The periods after which a pod is synced again if it does not change. Each period is extended at random by up to half
 * its length, so that the syncs of many pods spread over time.
 *
 * @param settled the period after a complete sync; also the time that a changed Secret may take to appear in a volume
 * @param failed the period after a failed sync
 * @param waiting the period after a sync that lacks a Secret or ConfigMap. The creation of the object does not trigger
 *     a sync; under WATCH, a sync costs no request
 */
public record SyncPeriods(Duration settled, Duration failed, Duration waiting) {

    private static final Duration FAILED = Duration.ofSeconds(10);
    private static final Duration WAITING = Duration.ofSeconds(1);

    /**
     * Returns the kubelet's periods, except for {@code waiting}.
     *
     * @param syncFrequency the kubelet's option of that name, by default one minute
     * @param readsAreFree whether reading a missing object again makes no request, as under WATCH
     */
    public static SyncPeriods of(Duration syncFrequency, boolean readsAreFree) {
        return new SyncPeriods(syncFrequency, FAILED, readsAreFree ? WAITING : FAILED);
    }
}
