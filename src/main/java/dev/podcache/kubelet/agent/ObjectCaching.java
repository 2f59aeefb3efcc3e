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
 * @param readTimeout the longest that a read waits under GET and CACHE
 * @param firstSyncTimeout the longest that it waits under WATCH
 * @param payloadBudget the most bytes held under CACHE; {@link Long#MAX_VALUE} for any number
 * @param backgroundRefresh how much older than the TTL an object may be that CACHE serves while it
 *     refreshes it; zero for not at all
 */
public record ObjectCaching(
        ChangeDetectionStrategy strategy,
        Duration syncFrequency,
        Duration readTimeout,
        Duration firstSyncTimeout,
        long payloadBudget,
        Duration backgroundRefresh) {

    private static final int SYNCS_UNREAD = 5;
    private static final Duration LEAST_IDLE = Duration.ofMinutes(1);

    /** With the usual timeouts, and no bound. */
    public static ObjectCaching usual(ChangeDetectionStrategy strategy, Duration syncFrequency) {
        return new ObjectCaching(
                strategy,
                syncFrequency,
                StoreOptions.DEFAULT_READ_TIMEOUT,
                WatchTimes.DEFAULT.firstSync(),
                Long.MAX_VALUE,
                Duration.ZERO);
    }

    /** How long a watch that nobody reads stays open: five sync periods, but at least a minute, as in the kubelet. */
    Duration idleAfter() {
        Duration periods = syncFrequency.multipliedBy(SYNCS_UNREAD);
        return periods.compareTo(LEAST_IDLE) > 0 ? periods : LEAST_IDLE;
    }

    /** Has a cache work like that. */
    public PodcacheBuilder applyTo(PodcacheBuilder cache) {
        PodcacheBuilder configured = cache.strategy(strategy)
                .readTimeout(readTimeout)
                .firstSyncTimeout(firstSyncTimeout)
                .idleAfter(idleAfter())
                .payloadBudget(payloadBudget);
        return backgroundRefresh.isZero() ? configured : configured.backgroundRefresh(backgroundRefresh);
    }
}
