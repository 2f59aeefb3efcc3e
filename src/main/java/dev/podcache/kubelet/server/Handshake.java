package dev.podcache.kubelet.server;

import dev.podcache.object.Quoted;
import java.util.List;

/** Decides on the WebSocket that a request asks for. */
final class Handshake {

    private static final String WEB_SOCKET = "websocket";

    private Handshake() {}

    /**
     * Returns the subprotocol of a WebSocket: the first that the client offers and the endpoint has; empty if the client
     * offers none.
     *
     * @param what says what this node does over WebSocket, such as {@code runs commands}
     * @throws RefusedException if the request asks for no WebSocket, or offers only other subprotocols
     */
    static String subprotocol(KubeletRequest request, List<String> known, String what) {
        if (request.upgrade().isEmpty()) {
            throw new RefusedException(400, "Upgrade request required");
        }
        if (!request.upgrade().equals(WEB_SOCKET)) {
            throw unsupported(what, request.upgrade());
        }
        List<String> offered = request.subprotocols();
        for (String each : offered) {
            if (known.contains(each)) {
                return each;
            }
            if (each.startsWith("SPDY/")) {
                // kubectl's port-forward tunnels SPDY through the WebSocket
                throw unsupported(what, each);
            }
        }
        if (!offered.isEmpty()) {
            throw new RefusedException(
                    400, "the WebSocket request must offer the subprotocol " + String.join(" or ", known));
        }
        return "";
    }

    private static RefusedException unsupported(String what, String asked) {
        return new RefusedException(
                501,
                "this node " + what + " over WebSocket only, but the API server or client asked for "
                        + Quoted.value(asked) + "; use a client that sends WebSocket requests");
    }
}
