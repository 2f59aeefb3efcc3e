/**
 * Facts of a machine that its Node shows: {@link dev.podcache.kubelet.host.HostFacts}, read through OSHI or given by
 * the caller.
 */
@NullMarked
package dev.podcache.kubelet.host;

import org.jspecify.annotations.NullMarked;
