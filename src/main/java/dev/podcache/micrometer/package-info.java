/**
 * Shows the counts of a cache as Micrometer meters. {@link dev.podcache.micrometer.PodcacheMeterBinder} is the only
 * public class; {@code BoundStats} holds what the meters of one registry share. Needs
 * {@code io.micrometer:micrometer-core}, an optional dependency. The only lock, the monitor of {@code BoundStats},
 * guards the latest counts. The locks of {@code Podcache.stats} are taken inside it, those of a registry never.
 */
@NullMarked
package dev.podcache.micrometer;

import org.jspecify.annotations.NullMarked;
