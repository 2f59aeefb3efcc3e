package dev.podcache.kubelet.agent;

import dev.podcache.PodcacheBuilder;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import java.time.Duration;

/**
 * How Secrets and ConfigMaps are cached.
 *
 * @param strategy how changes are detected
 * @param syncFrequency how often everything that the pods refer to is read
 * @param readTimeout the maximum time that a read waits under GET and CACHE
 * @param firstSyncTimeout the maximum time that a read waits under WATCH
 * @param payloadBudget the maximum number of bytes held under WATCH and CACHE; {@link Long#MAX_VALUE} for no limit
 * @param backgroundRefresh CACHE serves an object for this long after its TTL while it refreshes the object; zero to
 *     disable this
 */
public record ObjectCaching(
        ChangeDetectionStrategy strategy,
        Duration syncFrequency,
        Duration readTimeout,
        Duration firstSyncTimeout,
        long payloadBudget,
        Duration backgroundRefresh) {

    /**
     * A ConfigMap in each namespace that nearly every pod of a cluster uses: a watch by each agent would make its
     * updates expensive.
     */
    private static final String ROOT_CERTIFICATES = "kube-root-ca.crt";

    private static final int SYNCS_UNREAD = 5;
    private static final Duration LEAST_IDLE = Duration.ofMinutes(1);

    /** Returns options with the default timeouts and without limits. */
    public static ObjectCaching usual(ChangeDetectionStrategy strategy, Duration syncFrequency) {
        return new ObjectCaching(
                strategy,
                syncFrequency,
                StoreOptions.DEFAULT_READ_TIMEOUT,
                WatchTimes.DEFAULT.firstSync(),
                Long.MAX_VALUE,
                Duration.ZERO);
    }

    ObjectCaching withStrategy(ChangeDetectionStrategy value) {
        return new ObjectCaching(value, syncFrequency, readTimeout, firstSyncTimeout, payloadBudget, backgroundRefresh);
    }

    ObjectCaching withSyncFrequency(Duration value) {
        return new ObjectCaching(strategy, value, readTimeout, firstSyncTimeout, payloadBudget, backgroundRefresh);
    }

    /**
     * Closes a watch whose object was not read for this long: five sync periods, at least a minute, as the kubelet
     * does.
     */
    Duration idleAfter() {
        Duration periods = syncFrequency.multipliedBy(SYNCS_UNREAD);
        return periods.compareTo(LEAST_IDLE) > 0 ? periods : LEAST_IDLE;
    }

    /** Applies these options to a cache. */
    public PodcacheBuilder applyTo(PodcacheBuilder cache) {
        PodcacheBuilder configured = cache.strategy(strategy)
                .readTimeout(readTimeout)
                .firstSyncTimeout(firstSyncTimeout)
                .idleAfter(idleAfter())
                .poll(key -> key.name().equals(ROOT_CERTIFICATES))
                .payloadBudget(payloadBudget);
        return backgroundRefresh.isZero() ? configured : configured.backgroundRefresh(backgroundRefresh);
    }
}
