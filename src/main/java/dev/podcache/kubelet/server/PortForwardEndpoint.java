package dev.podcache.kubelet.server;

import com.google.common.base.Splitter;
import com.google.common.primitives.Ints;
import dev.podcache.kubelet.runtime.PodPortForward;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * {@code /portForward/<namespace>/<pod>[/<uid>]}: connections to ports of a pod, over a WebSocket. After {@code
 * getPortForward} and {@code portforward/websocket.go} of upstream's kubelet.
 */
final class PortForwardEndpoint {

    /** The subprotocols, the preferred one first. Without any, messages are binary as in the first one. */
    static final List<String> SUBPROTOCOLS = List.of(ExecEndpoint.V4, ChannelFrames.V4_BASE64);

    /** Clients send one or a few; more would keep logs and commands out, with which ports share a limit. */
    static final int MOST_PORTS = 16;

    private static final int HIGHEST_PORT = 65535;

    private PortForwardEndpoint() {}

    /**
     * Returns the ports that a request names.
     *
     * @throws RefusedException if they cannot be forwarded; the message says why
     */
    static PortForwardRequest ports(KubeletRequest request, Collection<Pod> pods, Optional<PodPortForward> forward) {
        List<String> names = request.segments();
        if (names.size() != 2 && names.size() != 3) {
            throw new RefusedException(404, "ports are at /portForward/<namespace>/<pod>");
        }
        KnownPod pod = KnownPod.find(pods, names.get(0), names.get(1), names.size() == 3 ? names.get(2) : "");
        PodPortForward runtime = forward.orElseThrow(
                () -> new RefusedException(501, "the container runtime of this node cannot forward ports of pods"));
        // before the ports, which are elsewhere in a request for SPDY
        String subprotocol = Handshake.subprotocol(request, SUBPROTOCOLS, "forwards ports");
        return new PortForwardRequest(runtime, pod.key(), ports(request), subprotocol);
    }

    private static List<Integer> ports(KubeletRequest request) {
        List<Integer> ports = new ArrayList<>();
        // the API server sends "port"; its own clients "ports"
        for (String name : List.of("port", "ports")) {
            for (String value : request.query().getOrDefault(name, List.of())) {
                Splitter.on(',').split(value).forEach(each -> ports.add(port(each)));
            }
        }
        if (ports.isEmpty()) {
            throw new RefusedException(400, "the parameter port is missing");
        }
        if (ports.size() > MOST_PORTS) {
            throw new RefusedException(400, "a request can forward at most " + MOST_PORTS + " ports");
        }
        return List.copyOf(ports);
    }

    private static int port(String text) {
        Integer port = Ints.tryParse(text);
        if (port == null || port < 1 || port > HIGHEST_PORT) {
            throw new RefusedException(
                    400, "a port must be a number from 1 to " + HIGHEST_PORT + ", but is " + Quoted.value(text));
        }
        return port;
    }
}
