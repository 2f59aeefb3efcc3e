package dev.podcache.kubelet.podsync;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;

/** Receives what happens to pods. Called on the threads that sync the pods; one call at a time for a pod. */
public interface PodListener {

    /** A listener that does nothing. */
    PodListener SILENT = new PodListener() {
        @Override
        public void synced(Pod pod, PodStatus status) {}

        @Override
        public void ended(Pod pod) {}
    };

    /**
     * Called after each sync of a pod, whether or not its status changed.
     *
     * @param pod must not be modified
     * @param status the status to report; must not be modified
     */
    void synced(Pod pod, PodStatus status);

    /** Called when no container of a pod runs or will run again. */
    void ended(Pod pod);
}
