package dev.podcache.kubelet.runtime;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;

/**
 * Implemented by a {@link PodRuntime} that changes the CPU and memory of containers while they run. For a runtime without this
 * interface, the agent reports that a resize of a pod is {@code Infeasible}. Implementations must be thread-safe.
 */
@FunctionalInterface
public interface ContainerResize {

    /**
     * Gives a running container other requests and limits of CPU and memory. Returns when they are in force. Called when the
     * pod's spec has changed, unless its {@code resizePolicy} demands a restart. Calls for one pod are sequential.
     *
     * @param container with the resources that it is to have
     * @throws IOException if the container keeps its resources; the pod's status shows the message, and the call is repeated
     * @throws InterruptedException if the thread is interrupted, because the pod is to end or the agent is closed
     */
    void resize(Pod pod, Container container) throws IOException, InterruptedException;
}
