/**
 * What a node says of itself: its registration and its status. {@link dev.podcache.kubelet.nodestatus.NodeStatusSetter Setters}
 * compute the status, {@link dev.podcache.kubelet.nodestatus.NodeStatusUpdater} brings it to the API server. What is said when
 * the Node is created is an {@link dev.podcache.kubelet.nodestatus.InitialNode}.
 *
 * <p>Read {@code NodeStatusSetter} and {@code NodeStatusUpdater}; then {@code SerialTasks}, {@code SyncLoop}, {@code
 * NodeStatusSync}, {@code NodeRegistration}, {@code NodeReconciler}, {@code StatusReports}, {@code LastReport}, {@code
 * NodeStatusChange}, {@code NodeStatusPatch} and {@code FastStatusUpdate}. The setters of an ordinary node are made by
 * {@code NodeStatusSetters}, from {@code HostFacts}, {@code NodeReservations} with {@code EvictionThresholds}, {@code
 * NodeIps} and {@code RuntimeHealth}. What a node may say of itself when it is created is in {@code InitialNode},
 * {@code NodeLabels} and {@code NodeTaints}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>{@code SerialTasks}</td><td>who has the turn, who waits for it</td><td>none</td></tr>
 * <tr><td>{@code SyncLoop}</td><td>whether a sync runs, and another is wanted</td><td>{@code Pause}</td></tr>
 * <tr><td>{@code Pause}</td><td>what comes next</td><td>the timer's</td></tr>
 * <tr><td>{@code RuntimeHealth}</td><td>the runtime's last answer, and when it is asked
 * next</td><td>the timer's</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.kubelet.nodestatus;

import org.jspecify.annotations.NullMarked;
