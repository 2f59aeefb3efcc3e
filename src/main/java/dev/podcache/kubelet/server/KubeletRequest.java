package dev.podcache.kubelet.server;

import dev.podcache.object.LoopbackHost;
import dev.podcache.object.Quoted;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One request to the server, without its body, which no endpoint needs. Immutable.
 *
 * @param path the path as it was sent, with percent-encoding
 * @param query the decoded values of each parameter
 * @param authorization the Authorization header; secret
 * @param host the Host header; "" if there is none
 * @param certificates the client's certificates, not verified, its own first; empty if it has none
 * @param upgrade the protocol that the client asks to switch to, in lower case; empty if it does not
 * @param subprotocols the subprotocols of WebSocket that the client offers
 * @param origin the Origin header, which a browser sends; empty if there is none, or if an API server passed the request on
 * @param source the client's network
 */
record KubeletRequest(
        String method,
        String path,
        Map<String, List<String>> query,
        @Nullable String authorization,
        String host,
        List<X509Certificate> certificates,
        String upgrade,
        List<String> subprotocols,
        String origin,
        ClientSource source) {

    /** Returns the first value of a parameter, or null. */
    @Nullable
    String parameter(String name) {
        List<String> values = query.get(name);
        return values == null || values.isEmpty() ? null : values.get(0);
    }

    /**
     * Does nothing if the request is for a host of this machine.
     *
     * @param address the loopback address that is listened on
     * @param what is served, and where, for the message
     * @throws RefusedException if it is for another host
     */
    void requireHostOfThisMachine(String address, String what) {
        if (!LoopbackHost.isOfThisMachine(host, address)) {
            throw new RefusedException(
                    403,
                    what
                            + " for clients of this machine, which ask for localhost or 127.0.0.1; this request is for host "
                            + Quoted.value(host));
        }
    }

    /** Returns whether a parameter is set, as upstream reads it: {@code 1} or {@code true}. */
    boolean isSet(String name) {
        String value = parameter(name);
        return "1".equals(value) || "true".equals(value);
    }

    /**
     * Returns the decoded segments of the path after its first one; empty strings for empty segments.
     *
     * @throws RefusedException if a segment is not correctly encoded
     */
    List<String> segments() {
        String[] encoded = path.split("/", -1);
        try {
            return Arrays.stream(encoded)
                    .skip(2)
                    .map(segment -> URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8))
                    .toList();
        } catch (IllegalArgumentException e) {
            throw new RefusedException(400, "the path " + Quoted.value(path) + " is not correctly percent-encoded");
        }
    }

    /** Returns method and path, without the query and the credentials. */
    @Override
    public String toString() {
        return method + " " + Quoted.value(path);
    }
}
