/**
 * The node agent. Start reading at {@link dev.podcache.kubelet.agent.NodeAgent}: it connects the node status, the Lease
 * and the caches; {@code AgentPods} adds what concerns pods, and {@code AgentServices} starts and stops all parts in order.
 * {@link dev.podcache.kubelet.agent.KubeletConfiguration} is its configuration, {@link
 * dev.podcache.kubelet.agent.NodePorts} its access to the API server.
 *
 * <p>Locks: none in this package; its parts have their own.
 */
@NullMarked
package dev.podcache.kubelet.agent;

import org.jspecify.annotations.NullMarked;
