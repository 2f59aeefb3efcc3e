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
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Sets the Node's addresses. With an external cloud provider, it annotates the Node with the configured addresses, and
 * reports only them and the host name. Once the provider has set addresses, it does not change them. After upstream's
 * {@code NodeAddress}, without the in-tree cloud providers that upstream has removed.
 */
final class NodeAddressSetter implements NodeStatusSetter {

    private static final String PROVIDED_IP = "alpha.kubernetes.io/provided-node-ip";
    private static final List<String> OPTIONS = List.of("nodeIP", "secondaryNodeIP");

    private final NodeIdentity identity;
    private final HostFacts facts;
    private final NodeIpValidator validator;
    private final Function<String, List<InetAddress>> resolver;

    /** The configuration of the node's addresses. */
    record NodeIdentity(String hostName, NodeIps ips, boolean externalCloudProvider) {}

    /**
     * Creates a setter.
     *
     * @param resolver looks up a host name; may block; returns no address for an unknown name
     */
    NodeAddressSetter(NodeIdentity identity, HostFacts facts, Function<String, List<InetAddress>> resolver) {
        this.identity = identity;
        this.facts = facts;
        this.validator = new NodeIpValidator(facts);
        this.resolver = resolver;
    }

    @Override
    public void set(Node node, Instant now) {
        List<InetAddress> configured = identity.ips().configured();
        validate(configured);
        annotate(node, configured);
        if (!identity.externalCloudProvider()) {
            node.getStatus().setAddresses(addresses(node, configured));
        } else if (node.getStatus().getAddresses().isEmpty()) {
            // clients would see the address change if the cloud provider corrected a guess
            node.getStatus().setAddresses(configured.isEmpty() ? listed(List.of()) : addresses(node, configured));
        }
    }

    private void validate(List<InetAddress> configured) {
        for (int i = 0; i < configured.size(); i++) {
            Optional<String> objection = validator.objection(configured.get(i));
            if (objection.isPresent()) {
                throw new IllegalStateException("failed to validate " + OPTIONS.get(i) + ": " + objection.get());
            }
        }
    }

    private void annotate(Node node, List<InetAddress> configured) {
        Map<String, String> annotations = new LinkedHashMap<>(node.getMetadata().getAnnotations());
        if (identity.externalCloudProvider() && !configured.isEmpty()) {
            annotations.put(
                    PROVIDED_IP,
                    configured.stream().map(InetAddresses::toAddrString).collect(Collectors.joining(",")));
        } else {
            annotations.remove(PROVIDED_IP);
        }
        node.getMetadata().setAnnotations(annotations);
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
        return Stream.of(identity.hostName())
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
        boolean ipv4 = identity.ips().prefersIpv4();
        return candidates.stream()
                .filter(address -> NodeIps.isIpv4(address) == ipv4)
                .findFirst()
                .or(() -> candidates.stream().findFirst());
    }

    private List<NodeAddress> listed(List<InetAddress> internal) {
        List<NodeAddress> addresses = new ArrayList<>();
        internal.forEach(address -> addresses.add(new NodeAddress(InetAddresses.toAddrString(address), "InternalIP")));
        addresses.add(new NodeAddress(identity.hostName(), "Hostname"));
        return addresses;
    }
}
