/**
 * Elects one of several processes as leader by a Lease, with the rules of client-go's {@code tools/leaderelection}.
 *
 * <p>Read {@code LeaderElector}, then {@code LeaderRecord} (what the Lease says) and {@code LeaderElectionOptions}.
 *
 * <p>Locks: none; all state is used by tasks of one {@link dev.podcache.controlplane.cluster.ControllerLoop}.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.controlplane.leaderelection;

import org.jspecify.annotations.NullMarked;
