package dev.podcache.kubelet.runtime;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.util.List;

/**
 * The state of a pod as its runtime knows it. Immutable: the lists are copied, and the statuses in them must not be
 * modified afterwards.
 *
 * @param initContainers the statuses of all init containers that were ever started
 * @param containers the statuses of all other containers that were ever started
 * @param podIps the pod's IP addresses, the preferred one first; empty while it has none. A text that is
 *     not an IP address is left out of the pod's status
 */
public record PodState(List<ContainerStatus> initContainers, List<ContainerStatus> containers, List<String> podIps) {

    /** A pod without addresses of which no container was ever started. */
    public static final PodState NONE = new PodState(List.of(), List.of(), List.of());

    public PodState {
        initContainers = List.copyOf(initContainers);
        containers = List.copyOf(containers);
        podIps = List.copyOf(podIps);
    }

    /** Returns a state with copies of these lists. */
    public static PodState of(
            List<ContainerStatus> initContainers, List<ContainerStatus> containers, List<String> podIps) {
        return new PodState(initContainers, containers, podIps);
    }
}
