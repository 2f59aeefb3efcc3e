package dev.podcache.kubelet.nodestatus;

import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.host.HostFacts;
import java.net.InetAddress;
import java.util.Optional;

/** Checks whether other machines can reach the node at an address. After upstream's {@code validateNodeIP}. */
final class NodeIpValidator {

    private final HostFacts facts;

    NodeIpValidator(HostFacts facts) {
        this.facts = facts;
    }

    /** Returns why {@code address} cannot be that of a node on any machine; empty if it can. */
    static Optional<String> unreachable(InetAddress address) {
        if (address.isLoopbackAddress()) {
            return Optional.of("nodeIP can't be loopback address");
        }
        if (address.isMulticastAddress()) {
            return Optional.of("nodeIP can't be a multicast address");
        }
        return address.isLinkLocalAddress()
                ? Optional.of("nodeIP can't be a link-local unicast address")
                : Optional.empty();
    }

    /** Returns why {@code address} cannot be the node's; empty if it is a reachable address of this machine. */
    Optional<String> objection(InetAddress address) {
        Optional<String> unreachable = unreachable(address);
        if (unreachable.isPresent()) {
            return unreachable;
        }
        if (address.isAnyLocalAddress()) {
            return Optional.of("nodeIP can't be an all zeros address");
        }
        if (!facts.addresses().contains(address)) {
            return Optional.of("node IP: \"" + InetAddresses.toAddrString(address)
                    + "\" not found in the host's network interfaces");
        }
        return Optional.empty();
    }
}
