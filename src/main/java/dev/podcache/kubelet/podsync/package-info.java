/**
 * Runs the pods that are assigned to a node: syncs each pod until it ends or is deleted, and then stops it. A sync
 * registers the pod with the managers, reads its configuration, stops and starts containers through a {@link
 * dev.podcache.kubelet.runtime.PodRuntime}, runs their hooks, and reports the pod's status. A pod is synced at once when
 * it changes, when its runtime notifies of a change, when a probe has a new result, and when a Secret or ConfigMap changes
 * that it refers to; and at the latest after the sync period.
 *
 * <p>Reading order: {@code PodWorkers}, {@code PodWorker}, {@code PodLifecycle}, {@code PodContainers}, {@code
 * ContainerHistory}, {@code PodActions}, {@code RestartBackoff}, {@code PodStop}, {@code LifecycleHooks}, {@code
 * ProbedHealth}, {@code RuntimeExec}, {@code RuntimeCalls}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>locks taken while held</th></tr>
 * <tr><td>{@code PodWorker}</td><td>the next sync of one pod, and the thread of the running one</td><td>the timer's</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.kubelet.podsync;

import org.jspecify.annotations.NullMarked;
