/**
 * Shows the counts of a cache as Micrometer meters. {@link dev.podcache.micrometer.PodcacheMeterBinder} is all there is
 * to use; {@code BoundStats} holds what the meters of one registry share. Needs {@code io.micrometer:micrometer-core},
 * an optional dependency. The one lock, of {@code BoundStats}, guards its latest statistics; inside it are taken those
 * that {@code Podcache.stats} takes, and no lock of a registry.
 */
@NullMarked
package dev.podcache.micrometer;

import org.jspecify.annotations.NullMarked;
