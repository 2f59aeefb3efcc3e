/**
 * Runs the pods that are assigned to a node: syncs each pod until it ends or is deleted, and then stops it. A sync
 * registers the pod with the managers, reads its configuration, starts the containers that do not run yet through a
 * {@link dev.podcache.kubelet.runtime.PodRuntime}, and reports the pod's status.
 *
 * <p>Reading order: {@code PodWorkers}, {@code PodWorker}, {@code PodLifecycle}, {@code PodAttempt}, {@code
 * PodConfiguration}, {@code PodWarning}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>locks taken while held</th></tr>
 * <tr><td>{@code PodWorker}</td><td>the next sync of one pod</td><td>the timer's</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.kubelet.podsync;

import org.jspecify.annotations.NullMarked;
