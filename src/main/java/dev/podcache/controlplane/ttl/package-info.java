/**
 * Tells agents how long they may cache Secrets and ConfigMaps: kube-controller-manager's controller ttl. Follows {@code
 * pkg/controller/ttl} of Kubernetes. The other end is {@link dev.podcache.node.NodeTtlSource}.
 *
 * <p>Read {@code TtlLadder}, which decides, and {@code TtlController}, which writes.
 *
 * <p>Locks: none; everything is a task of the cache's {@link dev.podcache.controlplane.cluster.ControllerLoop}. How a
 * simulation runs this package: {@link dev.podcache.controlplane.cluster}.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.controlplane.ttl;

import org.jspecify.annotations.NullMarked;
