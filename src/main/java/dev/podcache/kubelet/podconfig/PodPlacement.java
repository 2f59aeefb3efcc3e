package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;

/**
 * What a pod can be told of where it runs, and only its node knows.
 *
 * @param podIps the pod's addresses, of a pod on the host's network those of the host; empty while there are none. Kept
 *     is the first of each family, and first the family of the node's first address, however they are given.
 * @param hostIps the node's addresses, at most one of each family, the preferred one first
 * @param allocatable what the node has for pods, by resource: what a container without a limit is told as its limit
 */
public record PodPlacement(
        ImmutableList<String> podIps, ImmutableList<String> hostIps, ImmutableMap<String, Quantity> allocatable) {

    public PodPlacement {
        boolean six = !hostIps.isEmpty() && isSix(hostIps.get(0));
        podIps = ImmutableList.<String>builder()
                .addAll(firstOf(six, podIps))
                .addAll(firstOf(!six, podIps))
                .build();
    }

    /**
     * On {@code node}: its internal addresses, or else its external ones, and its allocatable resources.
     *
     * @param node which is not modified
     * @param podIps as above
     */
    public static PodPlacement on(Node node, List<String> podIps) {
        if (node.getStatus() == null) {
            return new PodPlacement(ImmutableList.copyOf(podIps), ImmutableList.of(), ImmutableMap.of());
        }
        List<NodeAddress> addresses = AbsentObject.orEmpty(node.getStatus().getAddresses());
        ImmutableList<String> known = ImmutableList.<String>builder()
                .addAll(ofType("InternalIP", addresses))
                .addAll(ofType("ExternalIP", addresses))
                .build();
        boolean six = !known.isEmpty() && isSix(known.get(0));
        ImmutableList<String> hostIps = ImmutableList.<String>builder()
                .addAll(firstOf(six, known))
                .addAll(firstOf(!six, known))
                .build();
        return new PodPlacement(
                ImmutableList.copyOf(podIps),
                hostIps,
                ImmutableMap.copyOf(AbsentObject.orEmpty(node.getStatus().getAllocatable())));
    }

    private static List<String> ofType(String type, List<NodeAddress> addresses) {
        return addresses.stream()
                .filter(address -> type.equals(address.getType()))
                .map(NodeAddress::getAddress)
                .toList();
    }

    private static List<String> firstOf(boolean six, List<String> addresses) {
        return addresses.stream()
                .filter(address -> isSix(address) == six)
                .limit(1)
                .toList();
    }

    private static boolean isSix(String address) {
        return address.indexOf(':') >= 0;
    }
}
