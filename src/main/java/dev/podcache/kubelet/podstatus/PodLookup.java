package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Finds the pods of a node by UID. Implementations must be thread-safe; no method may block. */
@FunctionalInterface
public interface PodLookup {

    /** Returns the pod with this UID as last seen; empty if the node has no such pod. A changed pod is another instance. */
    Optional<Pod> get(String uid);

    /**
     * Returns the pod at the API server that shows the pod with this UID: the pod itself, or the mirror pod of this
     * version of a static pod. Empty if there is none.
     */
    default Optional<Pod> atServer(String uid) {
        return get(uid);
    }
}
