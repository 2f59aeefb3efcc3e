package dev.podcache.kubelet.host;

import com.google.common.net.InetAddresses;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Reads the addresses of this machine. */
final class HostNetwork {

    /** Addresses reserved for documentation, which only a default route matches. No packet is sent to them. */
    private static final List<String> ROUTE_TARGETS = List.of("198.51.100.1", "2001:db8::1");

    private static final int DISCARD_PORT = 9;

    List<InetAddress> addresses() {
        try {
            return NetworkInterface.networkInterfaces()
                    .filter(HostNetwork::isUp)
                    .flatMap(NetworkInterface::inetAddresses)
                    .map(HostNetwork::withoutScope)
                    .toList();
        } catch (SocketException e) {
            return List.of();
        }
    }

    List<InetAddress> defaultRouteAddresses() {
        return ROUTE_TARGETS.stream()
                .flatMap(target -> sourceFor(target).stream())
                .toList();
    }

    /**
     * Finds the source address for {@code target}: connecting a datagram socket looks up its route, and sends nothing.
     */
    private static Optional<InetAddress> sourceFor(String target) {
        try (DatagramChannel channel = DatagramChannel.open()) {
            channel.connect(new InetSocketAddress(InetAddresses.forString(target), DISCARD_PORT));
            InetSocketAddress local = (InetSocketAddress) channel.getLocalAddress();
            return Stream.of(withoutScope(local.getAddress()))
                    .filter(address -> !address.isAnyLocalAddress()
                            && !address.isLoopbackAddress()
                            && !address.isLinkLocalAddress())
                    .findFirst();
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty();
        }
    }

    private static boolean isUp(NetworkInterface network) {
        try {
            return network.isUp();
        } catch (SocketException e) {
            return false;
        }
    }

    private static InetAddress withoutScope(InetAddress address) {
        try {
            return InetAddress.getByAddress(address.getAddress());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("illegal length of address " + address, e);
        }
    }
}
