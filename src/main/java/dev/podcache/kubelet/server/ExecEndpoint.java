package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * {@code /exec/<namespace>/<pod>/[<uid>/]<container>}: a command in a container, over a WebSocket. After {@code getExec}
 * of upstream's kubelet.
 */
final class ExecEndpoint {

    static final String V4 = "v4.channel.k8s.io";
    static final String V5 = "v5.channel.k8s.io";

    /** The subprotocols, the preferred one first. */
    static final List<String> SUBPROTOCOLS = List.of(V5, V4);

    private ExecEndpoint() {}

    /**
     * Returns the command that a request names.
     *
     * @throws RefusedException if it cannot run; the message says why
     */
    static ExecRequest command(KubeletRequest request, Collection<Pod> pods, Optional<ContainerExec> exec) {
        List<String> names = request.segments();
        if (names.size() != 3 && names.size() != 4) {
            throw new RefusedException(404, "commands are at /exec/<namespace>/<pod>/<container>");
        }
        String container = names.get(names.size() - 1);
        KnownPod pod =
                KnownPod.find(pods, names.get(0), names.get(1), names.size() == 4 ? names.get(2) : "", container);
        ContainerExec runtime = exec.orElseThrow(() ->
                new RefusedException(501, "the container runtime of this node cannot run commands in containers"));
        ExecRequest.Streams streams = streams(request);
        List<String> command = request.query().getOrDefault("command", List.of());
        if (command.isEmpty()) {
            throw new RefusedException(400, "the parameter command is missing");
        }
        requireWebSocket(request);
        return new ExecRequest(
                runtime, pod.key(), container, command, streams, chosen(request).equals(V5));
    }

    private static ExecRequest.Streams streams(KubeletRequest request) {
        boolean tty = request.isSet("tty");
        // a terminal has one output
        ExecRequest.Streams streams = new ExecRequest.Streams(
                request.isSet("input") || request.isSet("stdin"),
                request.isSet("output") || request.isSet("stdout"),
                !tty && (request.isSet("error") || request.isSet("stderr")),
                tty);
        if (!streams.stdin() && !streams.stdout() && !streams.stderr()) {
            throw new RefusedException(400, "you must specify at least 1 of stdin, stdout, stderr");
        }
        return streams;
    }

    private static void requireWebSocket(KubeletRequest request) {
        if (request.upgrade().isEmpty()) {
            throw new RefusedException(400, "Upgrade request required");
        }
        if (!request.upgrade().equals("websocket")) {
            throw new RefusedException(
                    501,
                    "this node runs commands over WebSocket only, but the API server or client asked for "
                            + Quoted.value(request.upgrade())
                            + "; use a client that sends WebSocket requests");
        }
        if (chosen(request).isEmpty()) {
            throw new RefusedException(400, "the WebSocket request must offer the subprotocol " + V5 + " or " + V4);
        }
    }

    /** Returns the subprotocol of the handshake: the first that the client offers and this server has. */
    private static String chosen(KubeletRequest request) {
        return request.subprotocols().stream()
                .filter(SUBPROTOCOLS::contains)
                .findFirst()
                .orElse("");
    }
}
