package dev.podcache.store;

import dev.podcache.metrics.CountedEvents;
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
 * The options that the stores of one process share. Durations are cut to a hundred years. Immutable.
 *
 * @param timekeeper time and threads
 * @param readTimeout the longest that a get blocks; positive
 * @param budget the bound on payloads, which all stores with the same instance share; GET holds no payloads
 * @param metrics the listener for events; its exceptions are caught
 * @param maxStaleness by how much an object may exceed the TTL and still be returned while it is refreshed, see {@link
 *     #backgroundRefresh}; zero for not at all
 * @param recovery decides when lost watches are reopened; all stores of one API server share the instance. Used by
 *     strategy WATCH only
 * @param earlyRefusals for how long a refusal of an object whose reference is new may pass
 */
public record StoreOptions(
        Timekeeper timekeeper,
        Duration readTimeout,
        PayloadBudget budget,
        PodcacheMetrics metrics,
        Duration maxStaleness,
        Recovery recovery,
        EarlyRefusals earlyRefusals) {

    /** The default read timeout. */
    public static final Duration DEFAULT_READ_TIMEOUT = Duration.ofSeconds(10);

    public StoreOptions {
        readTimeout = Durations.positive("readTimeout", readTimeout);
        maxStaleness = Durations.atLeast(Duration.ZERO, "maxStaleness", maxStaleness);
        metrics = CountedEvents.of(metrics);
    }

    /** Makes options without background refresh, with their own {@link Recovery}. */
    public StoreOptions(Timekeeper timekeeper, Duration readTimeout, PayloadBudget budget, PodcacheMetrics metrics) {
        this(timekeeper, readTimeout, budget, metrics, Duration.ZERO, new Recovery(timekeeper), EarlyRefusals.NODE);
    }

    /**
     * Returns these options with background refresh: strategy CACHE returns an object that has exceeded the TTL by at
     * most {@code maxStaleness} at once, and refreshes it in the background; see {@link TtlObjectStore}. The other
     * strategies ignore it.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public StoreOptions backgroundRefresh(Duration maxStaleness) {
        return new StoreOptions(timekeeper, readTimeout, budget, metrics, maxStaleness, recovery, earlyRefusals);
    }

    /** Returns these options with other times for early refusals. */
    public StoreOptions earlyRefusals(EarlyRefusals times) {
        return new StoreOptions(timekeeper, readTimeout, budget, metrics, maxStaleness, recovery, times);
    }

    /**
     * Waits for the completion that a get depends on. Returns whether it completed in time.
     *
     * @throws FetchFailed if the thread is interrupted; its interrupt status is then set
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
