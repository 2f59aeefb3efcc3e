package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Finds the pods of a node at the API server. Implementations must be thread-safe; the method must not block. */
@FunctionalInterface
public interface PodLookup {

    /**
     * Returns the pod, as last seen at the API server, that shows the pod with this UID: the pod itself, or the mirror pod
     * of this version of a static pod. Empty if there is none. A changed pod is another instance.
     */
    Optional<Pod> atServer(String uid);
}
