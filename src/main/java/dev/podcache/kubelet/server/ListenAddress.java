package dev.podcache.kubelet.server;

import com.google.common.net.InetAddresses;
import dev.podcache.object.Quoted;

/** Checks what a server is told to listen on. */
public final class ListenAddress {

    private static final int MOST_PORT = 65_535;

    private ListenAddress() {}

    /**
     * Returns {@code address}.
     *
     * @param what names the option in the message
     * @throws IllegalArgumentException if it is not an IP address
     */
    public static String address(String what, String address) {
        if (!InetAddresses.isInetAddress(address)) {
            throw new IllegalArgumentException(
                    what + " must be an IP address such as 127.0.0.1, but is " + Quoted.value(address));
        }
        return address;
    }

    /**
     * Returns {@code port}.
     *
     * @param what names the option in the message
     * @throws IllegalArgumentException if it is not between 0 and 65535
     */
    public static int port(String what, int port) {
        if (port < 0 || port > MOST_PORT) {
            throw new IllegalArgumentException(what + " must be between 0 and 65535, but is " + port);
        }
        return port;
    }
}
