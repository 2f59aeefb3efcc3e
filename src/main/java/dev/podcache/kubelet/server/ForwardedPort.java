package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.PodPortForward.PortConnection;
import dev.podcache.object.Quoted;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One port of a {@link PortForwardRequest}. Thread-safe. */
final class ForwardedPort {

    private static final Logger log = LoggerFactory.getLogger(ForwardedPort.class);

    private final PortForwardRequest request;
    private final int port;
    private final int channel; // of the data; errors are on the next one
    private final WebSocketSession session;

    // empty if there is no connection
    private final CompletableFuture<Optional<PortConnection>> opened = new CompletableFuture<>();

    // only the first end is reported: it is the cause of later failures
    private final AtomicBoolean ended = new AtomicBoolean();

    ForwardedPort(PortForwardRequest request, int port, int channel, WebSocketSession session) {
        this.request = request;
        this.port = port;
        this.channel = channel;
        this.session = session;
    }

    /** Sends the first message of both channels: the port, the lower byte first. */
    void announce() {
        byte[] number = {(byte) port, (byte) (port >> 8)};
        session.send(ChannelFrames.message(channel, number, number.length));
        session.send(ChannelFrames.message(channel + 1, number, number.length));
    }

    /** Connects, and sends what the port sends, until that ends. Blocks. */
    void run() throws InterruptedException {
        try (PortConnection connection = request.runtime().portForward(request.pod(), port)) {
            session.whenClientLeaves(connection::close);
            opened.complete(Optional.of(connection));
            session.sendAll(connection.input(), channel);
            ended.set(true);
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        } finally {
            opened.complete(Optional.empty());
        }
    }

    /** Writes a message of the client to the port, once it is connected. The future does not fail. */
    CompletableFuture<?> write(byte[] message) {
        return opened.thenCompose(
                connection -> session.onThread(() -> connection.ifPresent(open -> write(message, open))));
    }

    private void write(byte[] message, PortConnection connection) {
        try {
            connection.output().write(message, 1, message.length - 1);
            connection.output().flush();
        } catch (IOException e) {
            fail(e);
            // ends the thread that reads, too
            connection.close();
        }
    }

    private void fail(Throwable failure) {
        if (ended.compareAndSet(false, true) && !session.hasClientLeft()) {
            log.debug("port {} failed: {}", port, request, failure);
            String message = "error forwarding port " + port + " to pod " + request.pod() + ": "
                    + Quoted.text(String.valueOf(failure.getMessage()));
            byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
            session.send(ChannelFrames.message(channel + 1, bytes, bytes.length));
        }
    }
}
