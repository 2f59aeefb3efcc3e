package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import java.io.IOException;

/**
 * A command to run in a container, or an attachment to the container itself. Immutable.
 *
 * @param start starts the command or attaches; may block
 * @param name the container and pod, without the command, which may contain secrets
 * @param streams the streams that the client asked for
 */
record ExecRequest(ExecKind kind, ProcessStart start, String name, Streams streams, String subprotocol)
        implements WebSocketCall {

    enum ExecKind {
        EXEC,
        ATTACH
    }

    /** Calls the runtime. */
    interface ProcessStart {
        ContainerProcess call() throws IOException;
    }

    /** The streams of a container that a client asked for. Immutable. */
    record Streams(boolean stdin, boolean stdout, boolean stderr, boolean tty) {}

    @Override
    public void run(WebSocketSession session) throws InterruptedException {
        new ExecSession(this, session).run();
    }

    /** Returns whether the client can close single streams. */
    boolean closeSignals() {
        return subprotocol.equals(ExecEndpoint.V5);
    }

    @Override
    public String toString() {
        return name;
    }
}
