/**
 * Runs the pods that are assigned to a node: syncs each pod until it ends or is deleted, and then stops it. A sync
 * registers the pod with the managers, reads its configuration, stops and starts containers through a {@link
 * dev.podcache.kubelet.runtime.PodRuntime}, runs their hooks, and reports the pod's status. A pod is synced at once when
 * it changes, when its runtime notifies of a change, when a probe has a new result, and when a Secret or ConfigMap changes
 * that it refers to; and at the latest after the sync period.
 *
 * <p>Reading order: {@code PodWorkers}, {@code ServerPods}, {@code StaticPods}, {@code PodWorker}, {@code
 * PodLifecycle}, {@code PodContainers} or {@code ProvidedPod}, {@code ContainerHistory}, {@code ContainerMemory}, {@code PodActions}, {@code
 * ImagePulls}, {@code IsolationChecks}, {@code PodResize}, {@code RepeatPauses}, {@code RestartBackoff}, {@code
 * WaitingContainers}, {@code PodStop}, {@code LifecycleHooks}, {@code ProbedHealth}, {@code RuntimeExec}, {@code
 * RuntimeCalls}, {@code NodeAdmission}, {@code Evictions}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>locks taken while held</th></tr>
 * <tr><td>{@code PodWorker}</td><td>the next sync of one pod, and the thread of the running one</td><td>the timer's</td></tr>
 * <tr><td>{@code StaticPods}</td><td>which static pods are wanted, and which ones the workers have</td><td>none</td></tr>
 * <tr><td>{@code NodeAdmission}</td><td>which pods were admitted</td><td>none</td></tr>
 * <tr><td>{@code OrphanedPods}</td><td>which sources of pods were read</td><td>none</td></tr>
 * </table>
 *
 * <p>Not API, except {@code PodAdmission}, {@code PodListener}: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.podsync;

import org.jspecify.annotations.NullMarked;
