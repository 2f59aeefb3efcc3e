package dev.podcache.object;

import java.util.regex.Pattern;

/**
 * Decides whether a request at a loopback address is from a client of this machine. A web site that makes its own name
 * resolve to 127.0.0.1 has a browser send that name as the host: such a request is to be refused.
 */
public final class LoopbackHost {

    private static final Pattern LOCAL = Pattern.compile("(?i)(localhost|127\\.0\\.0\\.1|\\[::1])(:\\d{1,5})?");

    private LoopbackHost() {}

    /**
     * Returns whether a request is for a host of this machine, whatever its port.
     *
     * @param host the Host header, or the authority; "" if there is none, which is no host
     * @param address the IP address that is listened on, which a client may name too
     */
    public static boolean isOfThisMachine(String host, String address) {
        return LOCAL.matcher(host).matches() || isAddress(host, address);
    }

    private static boolean isAddress(String host, String address) {
        String name = address.contains(":") ? "[" + address + "]" : address;
        return host.equalsIgnoreCase(name) || host.matches("(?i)" + Pattern.quote(name) + ":\\d{1,5}");
    }
}
