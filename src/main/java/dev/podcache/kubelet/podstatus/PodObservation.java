package dev.podcache.kubelet.podstatus;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.util.List;

/**
 * A runtime's observation of a pod. Immutable: the lists are copied, and the statuses in them must not be modified
 * afterwards.
 *
 * @param containers the statuses of regular containers, in any order; may omit unknown containers
 * @param initContainers the statuses of init containers, including sidecars, in any order; may omit unknown containers
 * @param ephemeralContainers the statuses of ephemeral containers, in any order; may omit unknown containers
 * @param hostIps the node's addresses, the primary one first; empty if unknown
 * @param podIps the pod's addresses, the primary one first; empty if it has none yet
 * @param mounted whether the pod's volumes are mounted
 * @param over whether no container of the pod runs or will be started again
 */
public record PodObservation(
        List<ContainerStatus> containers,
        List<ContainerStatus> initContainers,
        List<ContainerStatus> ephemeralContainers,
        List<String> hostIps,
        List<String> podIps,
        boolean mounted,
        boolean over) {

    public PodObservation {
        containers = List.copyOf(containers);
        initContainers = List.copyOf(initContainers);
        ephemeralContainers = List.copyOf(ephemeralContainers);
        hostIps = List.copyOf(hostIps);
        podIps = List.copyOf(podIps);
    }

    /** Returns an observation without addresses and without volumes of a pod that is not over. */
    public static PodObservation of(List<ContainerStatus> containers, List<ContainerStatus> initContainers) {
        return new PodObservation(containers, initContainers, List.of(), List.of(), List.of(), false, false);
    }

    /** Returns the observation of a pod of which no container was started yet. */
    public static PodObservation nothing() {
        return of(List.of(), List.of());
    }

    /** Returns this observation with these statuses of ephemeral containers. */
    public PodObservation withEphemeral(List<ContainerStatus> statuses) {
        return new PodObservation(containers, initContainers, statuses, hostIps, podIps, mounted, over);
    }

    /** Returns this observation with these addresses. */
    public PodObservation at(List<String> newHostIps, List<String> newPodIps) {
        return new PodObservation(
                containers, initContainers, ephemeralContainers, newHostIps, newPodIps, mounted, over);
    }

    /** Returns this observation with or without mounted volumes. */
    public PodObservation withVolumes(boolean areMounted) {
        return new PodObservation(containers, initContainers, ephemeralContainers, hostIps, podIps, areMounted, over);
    }

    /** Returns this observation with {@link #over} set. */
    public PodObservation afterTheEnd() {
        return new PodObservation(containers, initContainers, ephemeralContainers, hostIps, podIps, mounted, true);
    }
}
