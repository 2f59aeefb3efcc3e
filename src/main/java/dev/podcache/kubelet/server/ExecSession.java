package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerExec.ContainerProcess;
import dev.podcache.object.Quoted;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects the streams of a command, or of a container itself, with a client. When the client leaves, they are closed: that
 * kills the command, but not the container.
 */
final class ExecSession {

    private static final Logger log = LoggerFactory.getLogger(ExecSession.class);

    private final ExecRequest request;
    private final WebSocketSession session;

    ExecSession(ExecRequest request, WebSocketSession session) {
        this.request = request;
        this.session = session;
    }

    /** Runs to the end of the command or container. */
    void run() throws InterruptedException {
        try (ContainerProcess process = request.start().call()) {
            // a runtime that ignores the interrupt still loses its process
            session.whenClientLeaves(process::close);
            session.send(ExecChannels.greeting(request.streams()));
            int code = exitCode(process);
            session.send(ExecChannels.ended(request.kind(), code));
        } catch (IOException | RuntimeException | Error e) {
            if (!session.hasClientLeft()) {
                log.debug("{} failed", request, e);
                session.send(ExecChannels.failed(request.kind(), Quoted.text(String.valueOf(e.getMessage()))));
            }
        }
    }

    private int exitCode(ContainerProcess process) throws IOException, InterruptedException {
        ExecRequest.Streams streams = request.streams();
        CompletableFuture<?> outputs = CompletableFuture.allOf(
                copy(process.stdout(), ExecChannels.STDOUT, streams.stdout()),
                copy(process.stderr(), ExecChannels.STDERR, streams.stderr()));
        if (!streams.stdin() && request.kind() == ExecRequest.ExecKind.EXEC) {
            process.stdin().close();
        }
        session.receive(message -> received(process, message));
        int code = process.await();
        // what the command wrote comes before its exit code
        session.await(outputs);
        return code;
    }

    /** Reads an output to its end, whether the client wants it or not, because a full pipe stops the command. */
    private CompletableFuture<?> copy(InputStream output, int channel, boolean wanted) {
        return session.run(() -> {
            try (output) {
                if (wanted) {
                    session.sendAll(output, channel);
                } else {
                    output.transferTo(OutputStream.nullOutputStream());
                }
            }
        });
    }

    private CompletableFuture<?> received(ContainerProcess process, byte[] message) {
        return session.onThread(() -> {
            try {
                ExecChannels.deliver(message, request, process);
            } catch (IOException e) {
                log.debug("the input of {} is closed: {}", request, e.getMessage());
            }
        });
    }
}
