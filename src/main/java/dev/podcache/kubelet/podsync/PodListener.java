package dev.podcache.kubelet.podsync;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;

/** Told what becomes of pods, on the threads that see to them; of one pod one call at a time. */
public interface PodListener {

    /**
     * The pod was synced; {@code status} is what is reported of it, whether or not that is
     * news. Neither may be modified.
     */
    void synced(Pod pod, PodStatus status);

    /** Nothing of the pod runs any more, and nothing will. */
    void ended(Pod pod);
}
