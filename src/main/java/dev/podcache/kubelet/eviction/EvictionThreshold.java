package dev.podcache.kubelet.eviction;

import dev.podcache.kubelet.host.HostFacts.Supply;
import java.time.Duration;
import java.util.Optional;

/**
 * A threshold below which the node is under pressure, and pods are evicted after a grace period. Immutable.
 *
 * @param value the least that must be available
 * @param gracePeriod how long the threshold must be met before a pod is evicted; zero for a hard threshold
 * @param minimumReclaim what must be available in addition before evictions end; empty for nothing
 */
record EvictionThreshold(
        EvictionSignal signal, ThresholdValue value, Duration gracePeriod, Optional<ThresholdValue> minimumReclaim) {

    boolean isHard() {
        return gracePeriod.isZero();
    }

    /** Returns whether less is available than this threshold. */
    boolean isMet(Supply supply) {
        return supply.available() < value.of(supply.capacity());
    }

    /** Returns whether less is available than this threshold with its minimum reclaim. */
    boolean isUnresolved(Supply supply) {
        long reclaim = minimumReclaim.map(least -> least.of(supply.capacity())).orElse(0L);
        // an amount may be as large as a long, but what is available is never negative by as much
        return supply.available() - reclaim < value.of(supply.capacity());
    }

    EvictionThreshold withSignal(EvictionSignal other) {
        return new EvictionThreshold(other, value, gracePeriod, minimumReclaim);
    }

    @Override
    public String toString() {
        return signal + "<" + value + (isHard() ? "" : " for " + gracePeriod.toSeconds() + " s");
    }
}
