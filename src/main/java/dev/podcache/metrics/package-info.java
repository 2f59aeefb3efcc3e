/**
 * What Podcache tells of its own work. {@link dev.podcache.metrics.PodcacheMetrics} is a listener that a user
 * implements as far as it interests; a throwing listener is logged and cannot hurt us. There are no locks.
 *
 * <p>Read {@code PodcacheMetrics}, then {@code GuardedMetrics}.
 */
@NullMarked
package dev.podcache.metrics;

import org.jspecify.annotations.NullMarked;
