/**
 * Reports the events of the caches. {@link dev.podcache.metrics.PodcacheMetrics} is a listener that users implement; an
 * exception of a listener is logged and has no other effect. {@code CountedEvents} counts the events for {@code
 * Podcache.stats}, forwards them and catches those exceptions. There are no locks.
 *
 * <p>Read {@code PodcacheMetrics}, then {@code CountedEvents}.
 */
@NullMarked
package dev.podcache.metrics;

import org.jspecify.annotations.NullMarked;
