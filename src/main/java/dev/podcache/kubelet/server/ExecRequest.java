package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.object.PodKey;
import java.io.IOException;
import java.util.List;

/**
 * A command to run in a container. Immutable.
 *
 * @param runtime starts the command
 * @param streams the streams that the client asked for
 * @param closeSignals whether the client can close single streams, as subprotocol {@code v5.channel.k8s.io} allows
 */
record ExecRequest(
        ContainerExec runtime,
        PodKey pod,
        String container,
        List<String> command,
        Streams streams,
        boolean closeSignals) {

    /** The streams of a command that a client asked for. Immutable. */
    record Streams(boolean stdin, boolean stdout, boolean stderr, boolean tty) {}

    /** Starts the command. May block. */
    ContainerProcess start() throws IOException {
        return runtime.exec(pod, container, command, streams.tty());
    }

    /** Returns pod and container, without the command, which may contain secrets. */
    @Override
    public String toString() {
        return "command in container " + container + " of pod " + pod;
    }
}
