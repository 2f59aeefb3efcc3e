package dev.podcache.cli.observe;

import io.fabric8.kubernetes.api.model.Pod;

/** Where pods are registered: the front door, as far as {@link AssignedPods} needs it. */
interface PodRegistry {

    /** Registers a pod, or its new state. */
    void registerPod(Pod pod);

    /** Takes a pod out again. */
    void unregisterPod(Pod pod);
}
