package dev.podcache.kubelet.eviction;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The pods of a node, as an {@link EvictionManager} sees them. Thread-safe; no method blocks. */
public interface EvictablePods {

    /** Returns the pods that have not ended, in any order. They must not be modified. */
    List<Pod> active();

    /**
     * Stops a pod and reports it as evicted. If the pod is being evicted already, the shorter of the grace periods counts
     * from now on.
     *
     * @return completed when no container of the pod runs any more and the pod is reported; the same for every call until
     *     then
     */
    CompletableFuture<Void> evict(Eviction eviction);
}
