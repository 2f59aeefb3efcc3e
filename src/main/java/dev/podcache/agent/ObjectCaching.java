package dev.podcache.agent;

import dev.podcache.PodcacheBuilder;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

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
record ObjectCaching(
        ChangeDetectionStrategy strategy,
        Duration syncFrequency,
        Duration readTimeout,
        Duration firstSyncTimeout,
        long payloadBudget,
        Duration backgroundRefresh) {

    /** The field of the strategy. */
    static final String STRATEGY = "configMapAndSecretChangeDetectionStrategy";

    private static final Duration SYNC_FREQUENCY = Duration.ofMinutes(1);
    private static final int SYNCS_UNREAD = 5;
    private static final Duration LEAST_IDLE = Duration.ofMinutes(1);

    /** With the usual timeouts, and no bound. */
    static ObjectCaching usual(ChangeDetectionStrategy strategy, Duration syncFrequency) {
        return new ObjectCaching(
                strategy,
                syncFrequency,
                StoreOptions.DEFAULT_READ_TIMEOUT,
                WatchTimes.DEFAULT.firstSync(),
                Long.MAX_VALUE,
                Duration.ZERO);
    }

    /**
     * As it is written, else as usual.
     *
     * @throws IllegalSetting if something is of another type or out of range
     */
    static ObjectCaching of(Settings all) {
        return new ObjectCaching(
                strategy(all),
                all.duration("syncFrequency", SYNC_FREQUENCY),
                all.duration("readTimeout", StoreOptions.DEFAULT_READ_TIMEOUT),
                all.duration("firstSyncTimeout", WatchTimes.DEFAULT.firstSync()),
                payloadBudget(all),
                all.duration("backgroundRefresh", Duration.ZERO));
    }

    /** How long a watch that nobody reads stays open: five sync periods, but at least a minute, as in the kubelet. */
    Duration idleAfter() {
        Duration periods = syncFrequency.multipliedBy(SYNCS_UNREAD);
        return periods.compareTo(LEAST_IDLE) > 0 ? periods : LEAST_IDLE;
    }

    /** Has a cache work like that. */
    PodcacheBuilder applyTo(PodcacheBuilder cache) {
        PodcacheBuilder configured = cache.strategy(strategy)
                .readTimeout(readTimeout)
                .firstSyncTimeout(firstSyncTimeout)
                .idleAfter(idleAfter())
                .payloadBudget(payloadBudget);
        return backgroundRefresh.isZero() ? configured : configured.backgroundRefresh(backgroundRefresh);
    }

    private static ChangeDetectionStrategy strategy(Settings all) {
        Setting setting = all.find(STRATEGY);
        if (setting == null) {
            return ChangeDetectionStrategy.WATCH;
        }
        if (setting.value() instanceof ChangeDetectionStrategy strategy) {
            return strategy;
        }
        List<ChangeDetectionStrategy> strategies = Arrays.asList(ChangeDetectionStrategy.values());
        return strategies.stream()
                .filter(strategy -> asInFile(strategy).equals(setting.value()))
                .findFirst()
                .orElseThrow(() -> setting.refused("Get, Cache or Watch"));
    }

    private static String asInFile(ChangeDetectionStrategy strategy) {
        return strategy.name().charAt(0) + strategy.name().substring(1).toLowerCase(Locale.ROOT);
    }

    private static long payloadBudget(Settings all) {
        Setting setting = all.find("payloadBudget");
        if (setting == null) {
            return Long.MAX_VALUE;
        }
        try {
            BigDecimal bytes = Quantity.parse(setting.value().toString()).getNumericalAmount();
            if (bytes.signum() > 0) {
                return bytes.longValueExact();
            }
        } catch (IllegalArgumentException | ArithmeticException noQuantity) {
            // is refused like one that is too small
        }
        throw setting.refused("a positive number of bytes, such as 64Mi");
    }
}
