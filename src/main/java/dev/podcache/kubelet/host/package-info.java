/**
 * Facts about the machine that a Node reports: {@link dev.podcache.kubelet.host.HostFacts}, read with OSHI or provided
 * by the caller.
 *
 * <p>Not API, except {@code HostFacts}: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.host;

import org.jspecify.annotations.NullMarked;
