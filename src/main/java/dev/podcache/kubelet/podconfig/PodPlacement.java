package dev.podcache.kubelet.podconfig;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The facts about a pod that only its node knows: its addresses, and the node's addresses and resources. Immutable; the
 * collections are copied.
 *
 * @param podIps the pod's addresses, or the host's for a pod on the host network; empty while the pod has none. Of the
 *     addresses passed in, the first of each IP family is kept, and the family of the node's first address comes first
 * @param hostIps the node's addresses, at most one of each IP family, the preferred one first
 * @param allocatable the node's allocatable resources by name, which containers without a limit see as their limit
 */
public record PodPlacement(List<String> podIps, List<String> hostIps, Map<String, Quantity> allocatable) {

    public PodPlacement {
        hostIps = List.copyOf(hostIps);
        podIps = onePerFamily(podIps, isFirstIpv6(hostIps));
        allocatable = Map.copyOf(allocatable);
    }

    /**
     * Returns the placement of a pod on {@code node}: with the node's internal addresses, followed by its external ones
     * for an IP family without an internal address, and its allocatable resources.
     *
     * @param node not modified
     * @param podIps the pod's addresses, as above
     */
    public static PodPlacement on(Node node, List<String> podIps) {
        if (node.getStatus() == null) {
            return new PodPlacement(podIps, List.of(), Map.of());
        }
        List<NodeAddress> addresses = Nullables.orEmpty(node.getStatus().getAddresses());
        List<String> byPreference = Stream.of("InternalIP", "ExternalIP")
                .flatMap(type -> addresses.stream().filter(address -> type.equals(address.getType())))
                .map(NodeAddress::getAddress)
                .toList();
        return new PodPlacement(
                podIps,
                onePerFamily(byPreference, isFirstIpv6(byPreference)),
                Nullables.orEmpty(node.getStatus().getAllocatable()));
    }

    private static List<String> onePerFamily(List<String> addresses, boolean ipv6First) {
        return Stream.of(ipv6First, !ipv6First)
                .flatMap(ipv6 -> addresses.stream()
                        .filter(address -> isIpv6(address) == ipv6)
                        .limit(1))
                .toList();
    }

    private static boolean isFirstIpv6(List<String> addresses) {
        return !addresses.isEmpty() && isIpv6(addresses.get(0));
    }

    private static boolean isIpv6(String address) {
        return address.indexOf(':') >= 0;
    }
}
