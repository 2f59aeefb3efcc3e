package dev.podcache.kubelet.nodestatus;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.net.InetAddresses;
import dev.podcache.object.Quoted;
import java.net.Inet4Address;
import java.net.InetAddress;

/**
 * The addresses that a node was told to have, as {@code --node-ip} gives them. After upstream's {@code
 * ParseNodeIPArgument}, which leaves out what is no address; here that is refused, because a node at an address that
 * nobody meant is worse than none.
 *
 * @param addresses none, one, or one of each family; {@code 0.0.0.0} or {@code ::} alone chooses a family and
 *     leaves the address to the machine
 */
public record NodeIps(ImmutableList<InetAddress> addresses) {

    /** Those of a node that was told nothing. */
    public static final NodeIps NONE = new NodeIps(ImmutableList.of());

    /**
     * Reads addresses that are separated by commas.
     *
     * @throws IllegalArgumentException if one is none, or these are more than two, two of one family, or
     *     two with one that is unspecified
     */
    public static NodeIps parse(String text) {
        ImmutableList.Builder<InetAddress> addresses = ImmutableList.builder();
        for (String item : Splitter.on(',').trimResults().omitEmptyStrings().split(text)) {
            if (!InetAddresses.isInetAddress(item)) {
                throw refused(text, "has " + Quoted.value(item) + ", which is no address");
            }
            addresses.add(InetAddresses.forString(item));
        }
        return new NodeIps(validated(addresses.build(), text));
    }

    private static ImmutableList<InetAddress> validated(ImmutableList<InetAddress> addresses, String text) {
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

    /** Those that say more than a family. */
    ImmutableList<InetAddress> specified() {
        return addresses.stream()
                .filter(address -> !address.isAnyLocalAddress())
                .collect(ImmutableList.toImmutableList());
    }

    /** Which family to take if there is a choice. */
    boolean prefersIpv4() {
        return addresses.isEmpty() || isIpv4(addresses.get(0));
    }

    static boolean isIpv4(InetAddress address) {
        return address instanceof Inet4Address;
    }
}
