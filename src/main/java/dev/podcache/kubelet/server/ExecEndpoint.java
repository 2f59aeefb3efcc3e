package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerAttach;
import dev.podcache.kubelet.runtime.ContainerExec;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * {@code /exec/<namespace>/<pod>/[<uid>/]<container>}: a command in a container, and {@code /attach/...}: the streams of
 * the container itself, over a WebSocket. After {@code getExec} and {@code getAttach} of upstream's kubelet.
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
        String container = container(request, "commands are at /exec/<namespace>/<pod>/<container>");
        KnownPod pod = pod(request, pods, container);
        ContainerExec runtime = exec.orElseThrow(() ->
                new RefusedException(501, "the container runtime of this node cannot run commands in containers"));
        ExecRequest.Streams streams = streams(request, request.isSet("tty"));
        List<String> command = request.query().getOrDefault("command", List.of());
        if (command.isEmpty()) {
            throw new RefusedException(400, "the parameter command is missing");
        }
        return new ExecRequest(
                ExecRequest.ExecKind.EXEC,
                () -> runtime.exec(pod.key(), container, command, streams.tty()),
                "command in container " + container + " of pod " + pod.key(),
                streams,
                subprotocol(request, "runs commands"));
    }

    /**
     * Returns the attachment that a request asks for.
     *
     * @throws RefusedException if it is not possible; the message says why
     */
    static ExecRequest attachment(KubeletRequest request, Collection<Pod> pods, Optional<ContainerAttach> attach) {
        String container = container(request, "containers are attached at /attach/<namespace>/<pod>/<container>");
        KnownPod pod = pod(request, pods, container);
        ContainerAttach runtime = attach.orElseThrow(
                () -> new RefusedException(501, "the container runtime of this node cannot attach to containers"));
        // the container has its terminal since its start, or none
        ExecRequest.Streams streams = streams(request, pod.hasTerminal(container));
        return new ExecRequest(
                ExecRequest.ExecKind.ATTACH,
                () -> runtime.attach(pod.key(), container, streams.stdin()),
                "attachment to container " + container + " of pod " + pod.key(),
                streams,
                subprotocol(request, "attaches to containers"));
    }

    private static String container(KubeletRequest request, String where) {
        List<String> names = request.segments();
        if (names.size() != 3 && names.size() != 4) {
            throw new RefusedException(404, where);
        }
        return names.get(names.size() - 1);
    }

    private static KnownPod pod(KubeletRequest request, Collection<Pod> pods, String container) {
        List<String> names = request.segments();
        return KnownPod.find(pods, names.get(0), names.get(1), names.size() == 4 ? names.get(2) : "", container);
    }

    private static ExecRequest.Streams streams(KubeletRequest request, boolean tty) {
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

    private static String subprotocol(KubeletRequest request, String what) {
        String chosen = Handshake.subprotocol(request, SUBPROTOCOLS, what);
        if (chosen.isEmpty()) {
            throw new RefusedException(400, "the WebSocket request must offer the subprotocol " + V5 + " or " + V4);
        }
        return chosen;
    }
}
