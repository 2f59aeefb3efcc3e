package dev.podcache.kubelet.podstatus;

import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.util.List;

/**
 * What a runtime sees of a pod. Immutable, as long as nobody changes the statuses in it.
 *
 * @param containers regular containers, by name, in any order; those it knows nothing of may be missing
 * @param initContainers init containers, sidecars included, likewise
 * @param hostIps addresses of the node, the main one first; empty if unknown
 * @param podIps addresses of the pod, the main one first; empty if it has none yet
 * @param over whether nothing of the pod runs, or will be started again
 */
public record PodObservation(
        ImmutableList<ContainerStatus> containers,
        ImmutableList<ContainerStatus> initContainers,
        ImmutableList<String> hostIps,
        ImmutableList<String> podIps,
        boolean over) {

    /** A pod without addresses that is not over. */
    public static PodObservation of(List<ContainerStatus> containers, List<ContainerStatus> initContainers) {
        return new PodObservation(
                ImmutableList.copyOf(containers),
                ImmutableList.copyOf(initContainers),
                ImmutableList.of(),
                ImmutableList.of(),
                false);
    }

    /** A pod of which nothing was started yet. */
    public static PodObservation nothing() {
        return of(List.of(), List.of());
    }

    /** The same with addresses. */
    public PodObservation at(List<String> ofHost, List<String> ofPod) {
        return new PodObservation(
                containers, initContainers, ImmutableList.copyOf(ofHost), ImmutableList.copyOf(ofPod), over);
    }

    /** The same of a pod that is over. */
    public PodObservation afterTheEnd() {
        return new PodObservation(containers, initContainers, hostIps, podIps, true);
    }
}
