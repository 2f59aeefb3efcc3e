/**
 * The kubelet's eviction thresholds, and the pressure conditions that follow from them. Reads the machine only through
 * {@link dev.podcache.kubelet.host.HostFacts}.
 */
@NullMarked
package dev.podcache.kubelet.eviction;

import org.jspecify.annotations.NullMarked;
