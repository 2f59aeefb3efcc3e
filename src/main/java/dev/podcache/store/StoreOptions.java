package dev.podcache.store;

import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.reflector.Recovery;
import dev.podcache.time.Timekeeper;
import java.time.Duration;

/**
 * What the stores of one process have in common. Immutable.
 *
 * @param timekeeper time and threads
 * @param readTimeout the longest that a get blocks; positive, and at most a hundred years, to which a longer one is cut
 * @param budget the bound on payloads; stores that are to share a bound share the instance. Means nothing to strategy
 *     GET, which holds none, nor to WATCH, which could not fetch again what it forgot
 * @param metrics told what happens; guarded against what it throws
 * @param maxStaleness how much older than the TTL an object may be that is served while it is refreshed, see {@link
 *     #backgroundRefresh}; zero for not at all, at most a hundred years, to which a longer one is cut
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

    /** How long a get blocks if nobody says otherwise: 10 s. */
    public static final Duration DEFAULT_READ_TIMEOUT = Duration.ofSeconds(10);

    /** As good as for ever, and still a number of nanoseconds that a deadline can be computed with. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    public StoreOptions {
        if (readTimeout.isNegative() || readTimeout.isZero()) {
            throw new IllegalArgumentException(
                    "a read timeout of " + readTimeout + " leaves no time to read: it must be positive");
        }
        if (maxStaleness.isNegative()) {
            throw new IllegalArgumentException("a background refresh up to " + maxStaleness
                    + " after the TTL would begin before it: give zero for none, or a positive duration");
        }
        readTimeout = cut(readTimeout);
        maxStaleness = cut(maxStaleness);
        metrics = PodcacheMetrics.guarded(metrics);
    }

    /** Without background refresh, and with a recovery of its own. */
    public StoreOptions(Timekeeper timekeeper, Duration readTimeout, PayloadBudget budget, PodcacheMetrics metrics) {
        this(timekeeper, readTimeout, budget, metrics, Duration.ZERO, new Recovery(timekeeper));
    }

    /**
     * The same, but strategy CACHE serves an object that is older than the TTL, by at most {@code maxStaleness}, at
     * once, and refreshes it behind the gets; see {@link TtlObjectStore}. Means nothing to the other strategies.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public StoreOptions backgroundRefresh(Duration maxStaleness) {
        return new StoreOptions(timekeeper, readTimeout, budget, metrics, maxStaleness, recovery);
    }

    /** The same without a bound on payloads. */
    StoreOptions unbounded() {
        PayloadBudget none = PayloadBudget.unlimited(timekeeper);
        return new StoreOptions(timekeeper, readTimeout, none, metrics, maxStaleness, recovery);
    }

    /** {@code duration}, or a hundred years if it is longer: {@link Duration#toNanos} throws from 292 years on. */
    static Duration cut(Duration duration) {
        return duration.compareTo(LONGEST) > 0 ? LONGEST : duration;
    }

    /** A read timeout of 10 s, no bound on payloads, no metrics. */
    public static StoreOptions defaults(Timekeeper timekeeper) {
        return new StoreOptions(
                timekeeper, DEFAULT_READ_TIMEOUT, PayloadBudget.unlimited(timekeeper), PodcacheMetrics.NONE);
    }
}
