package dev.podcache.kubelet.nodestatus;

import io.fabric8.kubernetes.api.model.Node;
import java.time.Instant;

/**
 * Keeps one part of a Node's status up to date. The setters of a node run one after the other, in order, on one thread
 * at a time, before every report and when the Node is created.
 */
@FunctionalInterface
public interface NodeStatusSetter {

    /**
     * Changes {@code node} in place. It is a copy of the caller's, made for this: its metadata and its
     * status are there, if only empty.
     *
     * <p>May block for a while, such as to ask a container runtime, and nothing else of the
     * node's status is computed meanwhile.
     *
     * @param now the heartbeat time, and the transition time of what changes
     * @throws RuntimeException if what it needs cannot be had; that is logged, what it did change stays, and the
     *     other setters run all the same
     */
    void set(Node node, Instant now);
}
