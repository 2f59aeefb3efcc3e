package dev.podcache.kubelet.podstatus;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import io.fabric8.kubernetes.api.model.PodStatus;

/**
 * The newest status of a pod.
 *
 * @param version increases with each new status of any pod
 * @param status normalised; must not be modified
 * @param finished whether no container of the pod runs or will run again
 * @param isStatic whether the pod comes from a file, so that its status is reported for its mirror pod
 */
record VersionedPodStatus(PodKey pod, long version, PodStatus status, boolean finished, boolean isStatic) {

    /** Returns the pod's namespace and name. Another pod may have the same name by now. */
    ObjectKey key() {
        return ObjectKey.of(pod.namespace(), pod.name());
    }
}
