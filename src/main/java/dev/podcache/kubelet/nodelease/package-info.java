/**
 * Renews a node's Lease in {@code kube-node-lease}, which shows the node lifecycle controller that the node is alive.
 * {@link dev.podcache.kubelet.nodelease.NodeLeaseController} renews it every quarter of the lease duration while the
 * node agent runs, independently of the Node's status. When it stops, the Lease stays and expires. After {@code
 * pkg/controller/lease} of component-helpers, but asynchronous: no thread waits for an answer.
 *
 * <p>Read {@code NodeLeaseController}, {@code LeaseSync}, {@code LeaseRenewal}, {@code RenewTimes}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>Guava's monitor of {@code NodeLeaseController}</td><td>its state; held by {@code doStart} and {@code
 * doStop}</td><td>those of {@code PeriodicLoop} and {@code Pause}, the timer's</td></tr>
 * </table>
 *
 * <p>Not API: may change in any release.
 */
@NullMarked
package dev.podcache.kubelet.nodelease;

import org.jspecify.annotations.NullMarked;
