package dev.podcache.kubelet.nodestatus;

import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.host.HostFacts;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import java.net.InetAddress;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Sets the Node's addresses. After upstream's {@code NodeAddress}, without cloud providers: removes the annotation that a
 * kubelet of this node may have left for one.
 */
final class NodeAddressSetter implements NodeStatusSetter {

    private static final String PROVIDED_IP = "alpha.kubernetes.io/provided-node-ip";
    private static final List<String> OPTIONS = List.of("nodeIP", "secondaryNodeIP");

    private final String hostName;
    private final NodeIps ips;
    private final HostFacts facts;
    private final NodeIpValidator validator;
    private final Function<String, List<InetAddress>> resolver;

    /**
     * Creates a setter.
     *
     * @param hostName the name of the node
     * @param resolver looks up a host name; may block; returns no address for an unknown name
     */
    NodeAddressSetter(String hostName, NodeIps ips, HostFacts facts, Function<String, List<InetAddress>> resolver) {
        this.hostName = hostName;
        this.ips = ips;
        this.facts = facts;
        this.validator = new NodeIpValidator(facts);
        this.resolver = resolver;
    }

    @Override
    public void set(Node node, Instant now) {
        List<InetAddress> configured = ips.configured();
        validate(configured);
        Map<String, String> annotations = new LinkedHashMap<>(node.getMetadata().getAnnotations());
        annotations.remove(PROVIDED_IP);
        node.getMetadata().setAnnotations(annotations);
        node.getStatus().setAddresses(addresses(node, configured));
    }

    private void validate(List<InetAddress> configured) {
        for (int i = 0; i < configured.size(); i++) {
            Optional<String> objection = validator.objection(configured.get(i));
            if (objection.isPresent()) {
                throw new IllegalStateException("failed to validate " + OPTIONS.get(i) + ": " + objection.get());
            }
        }
    }

    private List<NodeAddress> addresses(Node node, List<InetAddress> configured) {
        if (!configured.isEmpty()) {
            return listed(configured);
        }
        String name = node.getMetadata().getName();
        InetAddress found = fromHostName()
                .or(() -> fromName(name))
                .or(() -> preferred(facts.defaultRouteAddresses()))
                .orElseThrow(() -> new IllegalStateException("can't get ip address of node " + name
                        + ". error: its name does not resolve to an address of this machine, and there is"
                        + " no default route"));
        return listed(List.of(found));
    }

    private Optional<InetAddress> fromHostName() {
        return Stream.of(hostName)
                .filter(InetAddresses::isInetAddress)
                .<InetAddress>map(InetAddresses::forString)
                .findFirst();
    }

    private Optional<InetAddress> fromName(String name) {
        return preferred(resolver.apply(name).stream()
                .filter(address -> validator.objection(address).isEmpty())
                .toList());
    }

    private Optional<InetAddress> preferred(List<InetAddress> candidates) {
        boolean ipv4 = ips.prefersIpv4();
        return candidates.stream()
                .filter(address -> NodeIps.isIpv4(address) == ipv4)
                .findFirst()
                .or(() -> candidates.stream().findFirst());
    }

    private List<NodeAddress> listed(List<InetAddress> internal) {
        List<NodeAddress> addresses = new ArrayList<>();
        internal.forEach(address -> addresses.add(address(InetAddresses.toAddrString(address), "InternalIP")));
        addresses.add(address(hostName, "Hostname"));
        return addresses;
    }

    private static NodeAddress address(String address, String type) {
        NodeAddress made = new NodeAddress();
        made.setAddress(address);
        made.setType(type);
        return made;
    }
}
