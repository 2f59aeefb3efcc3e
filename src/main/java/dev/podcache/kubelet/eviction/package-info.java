/**
 * Eviction thresholds as the kubelet writes them, and whether a node is under pressure by them. Pure functions over {@link
 * dev.podcache.kubelet.host.HostFacts}.
 */
@NullMarked
package dev.podcache.kubelet.eviction;

import org.jspecify.annotations.NullMarked;
