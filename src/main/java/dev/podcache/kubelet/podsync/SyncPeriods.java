package dev.podcache.kubelet.podsync;

import java.time.Duration;

/**
 * How often a pod is looked at when nothing changes. Each pause is up to half as long again, so
 * that pods do not march in step.
 *
 * @param settled after a sync that left nothing to do; this is also how long a changed Secret
 *     may take to show in a volume
 * @param failed after one that failed
 * @param waiting after one that lacks a Secret or ConfigMap; a change of it wakes nobody, but under WATCH
 *     looking again costs no request
 */
public record SyncPeriods(Duration settled, Duration failed, Duration waiting) {

    private static final Duration FAILED = Duration.ofSeconds(10);
    private static final Duration WAITING = Duration.ofSeconds(1);

    /**
     * The kubelet's, but for {@code waiting}.
     *
     * @param syncFrequency the kubelet's option of that name, by default a minute
     * @param readsAreFree whether reading a missing object again makes no request, as under WATCH
     */
    public static SyncPeriods of(Duration syncFrequency, boolean readsAreFree) {
        return new SyncPeriods(syncFrequency, FAILED, readsAreFree ? WAITING : FAILED);
    }
}
