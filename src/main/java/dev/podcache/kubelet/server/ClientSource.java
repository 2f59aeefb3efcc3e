package dev.podcache.kubelet.server;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Where the requests of one connection come from. Thread-safe.
 *
 * @param network the address of the client, of IPv6 the first 64 bits, because a client has all addresses of such a network
 * @param refused how many tokens were refused that this connection sent
 */
record ClientSource(String network, AtomicInteger refused) {

    private static final int IPV6_NETWORK = 8;

    static ClientSource of(@Nullable InetAddress address) {
        byte[] bytes = address == null ? new byte[0] : address.getAddress();
        int significant = address instanceof Inet6Address ? IPV6_NETWORK : bytes.length;
        return new ClientSource(Arrays.toString(Arrays.copyOf(bytes, significant)), new AtomicInteger());
    }
}
