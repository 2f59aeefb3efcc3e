/**
 * What a node says of its pods. {@link dev.podcache.kubelet.podstatus.PodStatuses} makes a whole status of what a runtime
 * observed, {@link dev.podcache.kubelet.podstatus.PodStatusManager} keeps the newest one of each pod and brings the API server
 * to agree with it, without a thread of its own, and removes the pods that are over. Follows the kubelet's {@code
 * pkg/kubelet/status} and {@code pkg/kubelet/kubelet_pods.go}.
 *
 * <p>Read {@code PodStatusManager}, {@code PodStatusCache} (which status is the newest), {@code PodStatusSync} (which
 * pods are due), {@code PodStatusReport} (one pod's requests), {@code PodStatusMerge}, then {@code PodStatuses}, {@code
 * PodPhase}, {@code PodConditions}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code PodStatusCache}</td><td>the statuses and their versions</td><td>none</td></tr>
 * <tr><td>{@code PodStatusSync}</td><td>what was reported, what is under way, what waits after a failure</td><td>the
 * timer's</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.kubelet.podstatus;

import org.jspecify.annotations.NullMarked;
