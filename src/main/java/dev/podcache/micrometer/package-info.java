/**
 * Shows the counts of caches and node agents as Micrometer meters, and as text for Prometheus. {@link
 * dev.podcache.micrometer.PodcacheMeterBinder} binds the counts of a cache, {@link
 * dev.podcache.micrometer.NodeMeterBinder} those of a node agent, {@link
 * dev.podcache.micrometer.CertificateMeterBinder} the life of its client certificate; {@code BoundStats} holds what the meters of one registry
 * share. {@link dev.podcache.micrometer.PrometheusScrape} is what {@code /metrics} answers. Needs {@code
 * io.micrometer:micrometer-core}, an optional dependency, and for the text {@code
 * io.micrometer:micrometer-registry-prometheus}.
 *
 * <p>Locks: the monitor of {@code BoundStats} guards the latest counts; the locks of {@code Podcache.stats} are taken
 * inside it, those of a registry never. The monitor of {@code PrometheusScrape} covers the creation of its registry.
 */
@NullMarked
package dev.podcache.micrometer;

import org.jspecify.annotations.NullMarked;
