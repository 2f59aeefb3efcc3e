package dev.podcache.store;

import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.reflector.Recovery;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * What the stores of one process have in common. Durations of more than a hundred years are cut to that. Immutable.
 *
 * @param timekeeper time and threads
 * @param readTimeout the longest that a get blocks; positive
 * @param budget the bound on payloads; stores with a common bound share the instance. Means nothing to strategy GET,
 *     which holds none, nor to WATCH, which could not fetch again what it forgot
 * @param metrics called when something happens; what it throws is caught
 * @param maxStaleness how much older than the TTL an object may be that is served while it is refreshed, see {@link
 *     #backgroundRefresh}; zero for not at all
 * @param recovery decides when lost watches are opened again; stores of one API server share the instance. Means
 *     something to strategy WATCH only
 */
public record StoreOptions(
        Timekeeper timekeeper,
        Duration readTimeout,
        PayloadBudget budget,
        PodcacheMetrics metrics,
        Duration maxStaleness,
        Recovery recovery) {

    /** The longest that a get blocks by default: 10 s. */
    public static final Duration DEFAULT_READ_TIMEOUT = Duration.ofSeconds(10);

    public StoreOptions {
        readTimeout = Durations.positive("readTimeout", readTimeout);
        maxStaleness = Durations.atLeast(Duration.ZERO, "maxStaleness", maxStaleness);
        metrics = PodcacheMetrics.guarded(metrics);
    }

    /** Makes options without background refresh and with a recovery of their own. */
    public StoreOptions(Timekeeper timekeeper, Duration readTimeout, PayloadBudget budget, PodcacheMetrics metrics) {
        this(timekeeper, readTimeout, budget, metrics, Duration.ZERO, new Recovery(timekeeper));
    }

    /**
     * Returns these options with background refresh: strategy CACHE serves an object that is older than the TTL, by at
     * most {@code maxStaleness}, at once, and refreshes it behind the gets; see {@link TtlObjectStore}. Means nothing to
     * the other strategies.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public StoreOptions backgroundRefresh(Duration maxStaleness) {
        return new StoreOptions(timekeeper, readTimeout, budget, metrics, maxStaleness, recovery);
    }

    /** Returns these options without a bound on payloads. */
    StoreOptions unbounded() {
        PayloadBudget none = PayloadBudget.unlimited(timekeeper);
        return new StoreOptions(timekeeper, readTimeout, none, metrics, maxStaleness, recovery);
    }

    /**
     * Waits for what answers a get; returns whether it was completed in time.
     *
     * @throws FetchFailed if the thread is interrupted; its interrupt status is set then
     */
    boolean await(CompletableFuture<?> completion, Duration patience, ObjectKind<?> kind, ObjectKey key) {
        try {
            return timekeeper.await(completion, patience);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new FetchFailed(kind, key, FailureReason.INTERRUPTED, 0, null, e);
        }
    }

    /** Returns options with a read timeout of 10 s, no bound on payloads and no metrics. */
    public static StoreOptions defaults(Timekeeper timekeeper) {
        return new StoreOptions(
                timekeeper, DEFAULT_READ_TIMEOUT, PayloadBudget.unlimited(timekeeper), PodcacheMetrics.NONE);
    }
}
