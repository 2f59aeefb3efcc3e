/**
 * Finds nodes that are silent, and moves their pods away: kube-controller-manager's controllers node-lifecycle and
 * taint-eviction. Follows {@code pkg/controller/nodelifecycle} and {@code pkg/controller/tainteviction} of Kubernetes;
 * the classes say where they differ.
 *
 * <p>What happens to a node that falls silent, with the defaults:
 *
 * <table>
 * <caption>From silence to eviction</caption>
 * <tr><th>after the last heartbeat</th><th>what</th><th>where</th></tr>
 * <tr><td>50 to 60 s</td><td>Ready is Unknown; its pods are not Ready; NoSchedule taint {@code unreachable}</td>
 * <td>{@code HealthRules}, {@code PodReadiness}, {@code NoScheduleTaints}</td></tr>
 * <tr><td>5.1 s later</td><td>NoExecute taint {@code unreachable}; one node in 10 s for each zone</td>
 * <td>{@code NoExecuteTaints}, {@code TaintQueue}, {@code Disruption}</td></tr>
 * <tr><td>300 s later, or what the pod tolerates</td><td>the pods are deleted</td>
 * <td>{@code Tolerations}, {@code TaintEviction}</td></tr>
 * </table>
 *
 * <p>Decisions are pure functions: read {@code HealthRules}, {@code ZoneState}, {@code DisruptionMode}, {@code
 * NodeTaintRules} and {@code Tolerations} first. Then {@code NodeMonitor}, which makes the passes, and {@code
 * TaintEviction}. {@code NodeLifecycleController} wires them.
 *
 * <p>Locks: none; everything is a task of the cache's {@link dev.podcache.controlplane.cluster.ControllerLoop}. How a
 * simulation runs this package: {@link dev.podcache.controlplane.cluster}.
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.controlplane.nodelifecycle;

import org.jspecify.annotations.NullMarked;
