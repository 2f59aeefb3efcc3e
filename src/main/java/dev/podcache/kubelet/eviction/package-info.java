/**
 * The kubelet's eviction manager: which pressure a node reports, which pods it evicts, and which new ones it refuses. Facts
 * come in through {@code NodeUsage}; {@link dev.podcache.kubelet.eviction.EvictablePods} carries the decisions out.
 *
 * <p>Reading order: {@code EvictionOptions}, {@code EvictionManager} (the loop), {@code EvictionPolicy} (the decisions),
 * {@code ThresholdTracker}, {@code EvictionRanking}, {@code StorageLimits}, {@code EvictionMessage}; {@code RuntimeUsage}
 * measures. {@code OomScoreAdjust} is independent.
 *
 * <p>Locks: none. One run of the loop follows the other; other threads read a volatile set of pressures.
 *
 * <p>Not API, except {@code EvictionOptions}, {@code EvictionThresholds}, {@code PodRejection}: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.eviction;

import org.jspecify.annotations.NullMarked;
