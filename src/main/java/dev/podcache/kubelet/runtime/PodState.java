package dev.podcache.kubelet.runtime;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * The state of a pod as its runtime knows it. Immutable: the lists are copied, and the statuses in them must not be
 * modified afterwards.
 *
 * @param initContainers the statuses of all init containers that were ever started
 * @param containers the statuses of all other containers that were ever started
 * @param ephemeralContainers the statuses of all ephemeral containers that were ever started. A runtime that does not tell them
 *     from others may show them among {@code containers}: the agent knows their names
 * @param podIps the pod's IP addresses, the preferred one first; empty while it has none. A text that is
 *     not an IP address is left out of the pod's status
 * @param containerHashes the {@link Launch#containerHash} that the newest instance of a container was started with, by the
 *     container's name; may leave out containers
 */
public record PodState(
        List<ContainerStatus> initContainers,
        List<ContainerStatus> containers,
        List<ContainerStatus> ephemeralContainers,
        List<String> podIps,
        Map<String, String> containerHashes) {

    /** A pod without addresses of which no container was ever started. */
    public static final PodState NONE = new PodState(List.of(), List.of(), List.of());

    public PodState {
        initContainers = List.copyOf(initContainers);
        containers = List.copyOf(containers);
        ephemeralContainers = List.copyOf(ephemeralContainers);
        podIps = List.copyOf(podIps);
        containerHashes = Map.copyOf(containerHashes);
    }

    /** A state without ephemeral containers. */
    public PodState(
            List<ContainerStatus> initContainers,
            List<ContainerStatus> containers,
            List<String> podIps,
            Map<String, String> containerHashes) {
        this(initContainers, containers, List.of(), podIps, containerHashes);
    }

    /** A state without ephemeral containers and hashes. */
    public PodState(List<ContainerStatus> initContainers, List<ContainerStatus> containers, List<String> podIps) {
        this(initContainers, containers, podIps, Map.of());
    }

    /** Returns a state with copies of these lists, without ephemeral containers and hashes. */
    public static PodState of(
            List<ContainerStatus> initContainers, List<ContainerStatus> containers, List<String> podIps) {
        return new PodState(initContainers, containers, podIps);
    }

    /** Returns this state with these hashes, by container. */
    public PodState withHashes(Map<String, String> hashes) {
        return new PodState(initContainers, containers, ephemeralContainers, podIps, hashes);
    }

    /**
     * Returns this state with all statuses of ephemeral containers in {@link #ephemeralContainers}.
     *
     * @param isEphemeral tells whether a name is that of an ephemeral container
     */
    public PodState withEphemeralApart(Predicate<String> isEphemeral) {
        List<ContainerStatus> regular = new ArrayList<>();
        List<ContainerStatus> ephemeral = new ArrayList<>(ephemeralContainers);
        containers.forEach(status -> (isEphemeral.test(status.getName()) ? ephemeral : regular).add(status));
        return new PodState(initContainers, regular, ephemeral, podIps, containerHashes);
    }
}
