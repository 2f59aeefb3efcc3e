package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.eviction.PodRejection;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Decides whether a node runs a pod that was assigned to it and has not started yet. Thread-safe; should not block. */
@FunctionalInterface
public interface PodAdmission {

    /** Admits every pod. */
    PodAdmission ALL = pod -> Optional.empty();

    /**
     * Returns why the pod must never start, which is then reported as its failure; empty if it may. The pod must not be
     * modified. If this throws, it is asked again at the next sync of the pod.
     */
    Optional<PodRejection> rejection(Pod pod);
}
