package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableList;
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
 * Sets the addresses. With an external cloud provider it only says which it was given, until that provider
 * has put its own, and never touches those. After upstream's {@code NodeAddress}, without the cloud
 * providers that were built in once.
 */
final class NodeAddressSetter implements NodeStatusSetter {

    private static final String PROVIDED_IP = "alpha.kubernetes.io/provided-node-ip";
    private static final ImmutableList<String> CONFIGURED = ImmutableList.of("nodeIP", "secondaryNodeIP");

    private final NodeIdentity identity;
    private final HostFacts facts;
    private final NodeIpValidator validator;
    private final Function<String, ImmutableList<InetAddress>> resolver;

    /** What the node was told of its addresses. */
    record NodeIdentity(String hostName, NodeIps ips, boolean externalCloudProvider) {}

    /** Looks names up with {@code resolver}, which may block, and gives no address for a name that is not known. */
    NodeAddressSetter(NodeIdentity identity, HostFacts facts, Function<String, ImmutableList<InetAddress>> resolver) {
        this.identity = identity;
        this.facts = facts;
        this.validator = new NodeIpValidator(facts);
        this.resolver = resolver;
    }

    @Override
    public void set(Node node, Instant now) {
        ImmutableList<InetAddress> specified = identity.ips().specified();
        validate(specified);
        annotate(node, specified);
        if (!identity.externalCloudProvider()) {
            node.getStatus().setAddresses(addresses(node, specified));
        } else if (node.getStatus().getAddresses().isEmpty()) {
            // a guess that the cloud provider corrects later would let the node's clients flap
            node.getStatus()
                    .setAddresses(specified.isEmpty() ? listed(ImmutableList.of()) : addresses(node, specified));
        }
    }

    private void validate(ImmutableList<InetAddress> specified) {
        for (int i = 0; i < specified.size(); i++) {
            Optional<String> objection = validator.objection(specified.get(i));
            if (objection.isPresent()) {
                throw new IllegalStateException("failed to validate " + CONFIGURED.get(i) + ": " + objection.get());
            }
        }
    }

    private void annotate(Node node, ImmutableList<InetAddress> specified) {
        Map<String, String> annotations = new LinkedHashMap<>(node.getMetadata().getAnnotations());
        if (identity.externalCloudProvider() && !specified.isEmpty()) {
            annotations.put(
                    PROVIDED_IP,
                    specified.stream().map(InetAddresses::toAddrString).collect(Collectors.joining(",")));
        } else {
            annotations.remove(PROVIDED_IP);
        }
        node.getMetadata().setAnnotations(annotations);
    }

    private List<NodeAddress> addresses(Node node, ImmutableList<InetAddress> specified) {
        if (!specified.isEmpty()) {
            return listed(specified);
        }
        String name = node.getMetadata().getName();
        InetAddress found = fromHostName()
                .or(() -> fromName(name))
                .or(() -> preferred(facts.defaultRouteAddresses()))
                .orElseThrow(() -> new IllegalStateException("can't get ip address of node " + name
                        + ". error: its name has no address of this machine, and there is no default route"));
        return listed(ImmutableList.of(found));
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
                .collect(ImmutableList.toImmutableList()));
    }

    private Optional<InetAddress> preferred(ImmutableList<InetAddress> candidates) {
        boolean ipv4 = identity.ips().prefersIpv4();
        return candidates.stream()
                .filter(address -> NodeIps.isIpv4(address) == ipv4)
                .findFirst()
                .or(() -> candidates.stream().findFirst());
    }

    private List<NodeAddress> listed(ImmutableList<InetAddress> internal) {
        List<NodeAddress> addresses = new ArrayList<>();
        internal.forEach(address -> addresses.add(new NodeAddress(InetAddresses.toAddrString(address), "InternalIP")));
        addresses.add(new NodeAddress(identity.hostName(), "Hostname"));
        return addresses;
    }
}
