/**
 * A node of a cluster: {@link dev.podcache.kubelet.agent.NodeAgent} wires the heartbeats, the status of the pods, the pod
 * workers and the caches, and starts and stops them in order.
 */
@NullMarked
package dev.podcache.kubelet.agent;

import org.jspecify.annotations.NullMarked;
