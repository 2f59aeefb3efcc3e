package dev.podcache.kubelet.host;

import com.google.common.collect.ImmutableList;
import com.google.common.net.InetAddresses;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;
import java.util.Optional;
import java.util.stream.Stream;

/** The addresses of this machine. */
final class HostNetwork {

    /** Addresses reserved for documentation: only a default route leads there. Nothing is ever sent to them. */
    private static final ImmutableList<String> ELSEWHERE = ImmutableList.of("198.51.100.1", "2001:db8::1");

    private static final int DISCARD_PORT = 9;

    ImmutableList<InetAddress> addresses() {
        try {
            return NetworkInterface.networkInterfaces()
                    .filter(HostNetwork::isUp)
                    .flatMap(NetworkInterface::inetAddresses)
                    .map(HostNetwork::withoutScope)
                    .collect(ImmutableList.toImmutableList());
        } catch (SocketException e) {
            return ImmutableList.of();
        }
    }

    ImmutableList<InetAddress> defaultRouteAddresses() {
        return ELSEWHERE.stream()
                .flatMap(target -> sourceFor(target).stream())
                .collect(ImmutableList.toImmutableList());
    }

    /** Connecting a datagram socket looks up the route, and no more. */
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
            throw new IllegalStateException(address + " has an address of an illegal length", e);
        }
    }
}
