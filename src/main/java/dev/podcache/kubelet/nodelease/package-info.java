/**
 * Keeps a node believed alive: renews its Lease in {@code kube-node-lease} at a quarter of the lease's duration. {@link
 * dev.podcache.kubelet.nodelease.NodeLeaseController} runs for as long as the node agent does, apart from the node's status;
 * when it stops the lease stays, and runs out. After {@code pkg/controller/lease} of component-helpers, asynchronous:
 * no thread waits for an answer.
 *
 * <p>Read {@code NodeLeaseController}, {@code LeaseSync}, {@code LeaseRenewal}, {@code RenewTimes}.
 *
 * <table>
 * <caption>Locks</caption>
 * <tr><th>lock</th><th>covers</th><th>taken inside it</th></tr>
 * <tr><td>Guava's monitor of {@code NodeLeaseController}</td><td>its state, held by {@code doStart} and {@code
 * doStop}</td><td>{@code NodeLeaseController}, {@code LeaseSync}, the timer's</td></tr>
 * <tr><td>{@code NodeLeaseController}</td><td>whether a round runs, and what comes next</td><td>the timer's</td></tr>
 * <tr><td>{@code LeaseSync}</td><td>whether it is stopped, and its pause</td><td>the timer's</td></tr>
 * </table>
 */
@NullMarked
package dev.podcache.kubelet.nodelease;

import org.jspecify.annotations.NullMarked;
