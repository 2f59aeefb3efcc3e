package dev.podcache.kubelet.podstatus;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import io.fabric8.kubernetes.api.model.PodStatus;

/**
 * A pod's newest status.
 *
 * @param version grows with each new status of any pod
 * @param status normalised; nobody modifies it
 * @param finished whether nothing of the pod runs any more, for good
 */
record VersionedPodStatus(PodKey pod, long version, PodStatus status, boolean finished) {

    /** The pod's name, under which there may be another pod by now. */
    ObjectKey key() {
        return ObjectKey.of(pod.namespace(), pod.name());
    }
}
