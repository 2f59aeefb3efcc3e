package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.eviction.PodRejection;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;

/** Decides whether a node runs a pod that was assigned to it and has not started yet. Must neither block nor throw. */
@FunctionalInterface
public interface PodAdmission {

    /** Admits every pod. */
    PodAdmission ALL = pod -> Optional.empty();

    /** Returns why the pod must not start; empty if it may. The pod must not be modified. */
    Optional<PodRejection> rejection(Pod pod);
}
