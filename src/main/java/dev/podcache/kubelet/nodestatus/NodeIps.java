package dev.podcache.kubelet.nodestatus;

import com.google.common.base.Splitter;
import com.google.common.net.InetAddresses;
import dev.podcache.object.Quoted;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

/**
 * The configured addresses of a node, as in {@code --node-ip}. After upstream's {@code ParseNodeIPArgument}, which
 * skips text that is not an address. Here such text is an error, because a node at an unintended address is worse than
 * no node. Immutable.
 *
 * @param addresses none, one, or one of each family; {@code 0.0.0.0} or {@code ::} alone chooses only a family, and the
 *     node finds its address
 */
public record NodeIps(List<InetAddress> addresses) {

    /** No configured address. */
    public static final NodeIps NONE = new NodeIps(List.of());

    public NodeIps {
        addresses = List.copyOf(addresses);
    }

    /**
     * Parses addresses that are separated by commas.
     *
     * @throws IllegalArgumentException if a part of {@code text} is not an address or one that no other machine can reach, or
     *     there are more than two, two of one family, or two of which one is unspecified
     */
    public static NodeIps parse(String text) {
        List<InetAddress> addresses = new ArrayList<>();
        for (String item : Splitter.on(',').trimResults().omitEmptyStrings().split(text)) {
            if (!InetAddresses.isInetAddress(item)) {
                throw refused(text, "has " + Quoted.value(item) + ", which is not an address");
            }
            addresses.add(InetAddresses.forString(item));
        }
        for (InetAddress address : addresses) {
            NodeIpValidator.unreachable(address).ifPresent(why -> {
                throw refused(
                        text,
                        "has " + InetAddresses.toAddrString(address) + ", which no other machine can reach: " + why);
            });
        }
        return new NodeIps(validated(addresses, text));
    }

    private static List<InetAddress> validated(List<InetAddress> addresses, String text) {
        if (addresses.size() > 2) {
            throw refused(text, "has more than two addresses");
        }
        if (addresses.size() == 2) {
            if (isIpv4(addresses.get(0)) == isIpv4(addresses.get(1))) {
                throw refused(text, "has two addresses of one family");
            }
            if (addresses.stream().anyMatch(InetAddress::isAnyLocalAddress)) {
                throw refused(text, "has two addresses of which one is unspecified");
            }
        }
        return addresses;
    }

    private static IllegalArgumentException refused(String text, String why) {
        return new IllegalArgumentException(
                "node IP " + Quoted.value(text) + " " + why + ": give one, or one IPv4 and one IPv6 address");
    }

    /** Returns the addresses other than {@code 0.0.0.0} and {@code ::}. */
    List<InetAddress> configured() {
        return addresses.stream()
                .filter(address -> !address.isAnyLocalAddress())
                .toList();
    }

    /** Returns whether to prefer IPv4 if the node has addresses of both families. */
    boolean prefersIpv4() {
        return addresses.isEmpty() || isIpv4(addresses.get(0));
    }

    static boolean isIpv4(InetAddress address) {
        return address instanceof Inet4Address;
    }
}
