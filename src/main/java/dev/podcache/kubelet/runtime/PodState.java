package dev.podcache.kubelet.runtime;

import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.util.List;

/**
 * What a runtime knows of a pod. Immutable; the statuses in it must not be modified any more.
 *
 * @param initContainers of the init containers that were ever started
 * @param containers of the other containers that were ever started
 * @param podIps the preferred one first; empty as long as there is none
 */
public record PodState(
        ImmutableList<ContainerStatus> initContainers,
        ImmutableList<ContainerStatus> containers,
        ImmutableList<String> podIps) {

    /** Nothing of the pod was ever started. */
    public static final PodState NONE = new PodState(ImmutableList.of(), ImmutableList.of(), ImmutableList.of());

    /** Copies the lists. */
    public static PodState of(
            List<ContainerStatus> initContainers, List<ContainerStatus> containers, List<String> podIps) {
        return new PodState(
                ImmutableList.copyOf(initContainers), ImmutableList.copyOf(containers), ImmutableList.copyOf(podIps));
    }
}
