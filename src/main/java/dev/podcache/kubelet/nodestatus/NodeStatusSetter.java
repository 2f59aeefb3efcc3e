package dev.podcache.kubelet.nodestatus;

import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;

/**
 * Sets one part of a Node's status. A node's setters are called one at a time and in order, whenever the status is
 * computed: in every sync, and when the Node is created.
 */
@FunctionalInterface
public interface NodeStatusSetter {

    /**
     * Modifies {@code node}, a copy made for this purpose. Its metadata and status are not null.
     *
     * <p>May block for a while, such as to query a container runtime. Until it returns, no other part of the node's
     * status is computed.
     *
     * @param now the heartbeat time, and the transition time of conditions that change
     * @throws RuntimeException if the status cannot be determined; the exception is logged, modifications made so far
     *     are kept, and the other setters are called
     */
    void set(Node node, Instant now);
}
