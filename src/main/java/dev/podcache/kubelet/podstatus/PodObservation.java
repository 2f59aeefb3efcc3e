package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.util.List;

/**
 * A runtime's observation of a pod. Immutable: the lists are copied, and the statuses in them must not be modified
 * afterwards.
 *
 * @param containers the statuses of regular containers, in any order; may omit unknown containers
 * @param initContainers the statuses of init containers, including sidecars, in any order; may omit unknown containers
 * @param hostIps the node's addresses, the primary one first; empty if unknown
 * @param podIps the pod's addresses, the primary one first; empty if it has none yet
 * @param over whether no container of the pod runs or will be started again
 */
public record PodObservation(
        List<ContainerStatus> containers,
        List<ContainerStatus> initContainers,
        List<String> hostIps,
        List<String> podIps,
        boolean over) {

    public PodObservation {
        containers = List.copyOf(containers);
        initContainers = List.copyOf(initContainers);
        hostIps = List.copyOf(hostIps);
        podIps = List.copyOf(podIps);
    }

    /** Returns an observation without addresses of a pod that is not over. */
    public static PodObservation of(List<ContainerStatus> containers, List<ContainerStatus> initContainers) {
        return new PodObservation(containers, initContainers, List.of(), List.of(), false);
    }

    /** Returns the observation of a pod of which no container was started yet. */
    public static PodObservation nothing() {
        return of(List.of(), List.of());
    }

    /** Returns this observation with these addresses. */
    public PodObservation at(List<String> newHostIps, List<String> newPodIps) {
        return new PodObservation(containers, initContainers, newHostIps, newPodIps, over);
    }

    /** Returns this observation with {@link #over} set. */
    public PodObservation afterTheEnd() {
        return new PodObservation(containers, initContainers, hostIps, podIps, true);
    }
}
