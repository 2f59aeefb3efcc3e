/**
 * Reports the status of a node's pods to the API server. {@link dev.podcache.kubelet.podstatus.PodStatuses} derives a
 * pod's status from what a runtime observed. {@link dev.podcache.kubelet.podstatus.PodStatusManager} keeps the newest
 * status of each pod, sends it to the API server, and deletes pods that have ended. It has no thread of its own.
 * Follows the kubelet's {@code pkg/kubelet/status} and {@code pkg/kubelet/kubelet_pods.go}.
 *
 * <p>Reading order: {@code PodStatusManager}, {@code PodStatusCache} (the newest statuses), {@code PodStatusSync}
 * (which pods to report, and when), {@code PodStatusReport} (the requests of one report), {@code PodStatusMerge}, then
 * {@code PodStatuses}, {@code PodPhase}, {@code PodConditions}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>guards</th><th>locks taken while held</th></tr>
 * <tr><td>{@code PodStatusCache}</td><td>the statuses and their versions</td><td>none</td></tr>
 * <tr><td>{@code PodStatusSync}</td><td>the reported versions, the reports in flight, the pauses after failures</td>
 * <td>the timer's</td></tr>
 * </table>
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.podstatus;

import org.jspecify.annotations.NullMarked;
