/**
 * Registers a node with the API server and reports its status. {@link
 * dev.podcache.kubelet.nodestatus.NodeStatusSetter Setters} compute the status, and {@link
 * dev.podcache.kubelet.nodestatus.NodeStatusUpdater} sends it. An {@link dev.podcache.kubelet.nodestatus.InitialNode}
 * is the metadata and spec of a Node to create.
 *
 * <p>Read {@code NodeStatusSetter} and {@code NodeStatusUpdater}; then {@code SerialTasks}, {@code NodeStatusSync},
 * {@code NodeRegistration}, {@code NodeReconciler}, {@code StatusReports}, {@code
 * NodeStatusDifference} and {@code FastStatusUpdate}. {@code NodeStatusSetters} creates the
 * setters of an ordinary node, from {@code HostFacts}, {@code NodeReservations} with {@code EvictionThresholds},
 * {@code NodeIps} and {@code RuntimeHealth}. {@code NodeLabels} and {@code NodeTaints} check what an
 * {@code InitialNode} may contain.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code SerialTasks}</td><td>whether a task runs, and the tasks that wait</td><td>none</td></tr>
 * <tr><td>{@code RuntimeHealth}</td><td>the runtime's last status</td><td>none</td></tr>
 * </table>
 *
 * <p>Not API, except {@code NodeImage}, {@code NodeIps}, {@code NodeReservations}, {@code NodeStatusState}: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.nodestatus;

import org.jspecify.annotations.NullMarked;
