package dev.podcache.kubelet.server;

import dev.podcache.object.Quoted;
import java.util.regex.Pattern;

/**
 * Decides whether a request at a loopback address is from a client of this machine. A web site that makes its own name
 * resolve to 127.0.0.1 sends that name as the host, and is refused.
 */
final class LoopbackHost {

    private static final Pattern LOCAL = Pattern.compile("(?i)(localhost|127\\.0\\.0\\.1|\\[::1])(:\\d{1,5})?");

    private LoopbackHost() {}

    /**
     * Does nothing if the request is for a host of this machine.
     *
     * @param address that is listened on, which a client may name too
     * @param what is served, and where, for the message
     * @throws RefusedException if it is for another host
     */
    static void require(KubeletRequest request, String address, String what) {
        String host = request.host();
        if (!LOCAL.matcher(host).matches() && !isAddress(host, address)) {
            throw new RefusedException(
                    403,
                    what
                            + " for clients of this machine, which ask for localhost or 127.0.0.1; this request is for host "
                            + Quoted.value(host));
        }
    }

    private static boolean isAddress(String host, String address) {
        String name = address.contains(":") ? "[" + address + "]" : address;
        return host.equalsIgnoreCase(name) || host.matches("(?i)" + Pattern.quote(name) + ":\\d{1,5}");
    }
}
