package dev.podcache.kubelet.server;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A WebSocket. Its methods may be called by any thread. */
final class VertxWebSocket implements MessageChannel {

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    private final ServerWebSocket socket;
    private final Context eventLoop;
    private final boolean text;
    private final CompletableFuture<Object> closed = new CompletableFuture<>();

    /** @param text whether messages are text, with their content in Base64 */
    VertxWebSocket(ServerWebSocket socket, Context eventLoop, boolean text, Runnable onClose) {
        this.socket = socket;
        this.eventLoop = eventLoop;
        this.text = text;
        socket.pause();
        socket.exceptionHandler(e -> log.debug("a WebSocket failed: {}", e.getMessage()));
        socket.closeHandler(gone -> {
            onClose.run();
            closed.complete(this);
        });
    }

    @Override
    public CompletableFuture<?> send(byte[] message) {
        CompletableFuture<Object> sent = new CompletableFuture<>();
        eventLoop.runOnContext(nothing -> {
            if (closed.isDone() || socket.isClosed()) {
                sent.completeExceptionally(new IOException("the client has closed the WebSocket"));
                return;
            }
            Future<Void> written = text
                    ? socket.writeTextMessage(ChannelFrames.encode(message))
                    : socket.writeBinaryMessage(Buffer.buffer(message));
            written.onComplete(done -> sent.complete(this));
        });
        return sent;
    }

    @Override
    public void receive(Function<byte[], CompletableFuture<?>> receiver) {
        eventLoop.runOnContext(nothing -> {
            if (text) {
                socket.textMessageHandler(message -> received(message, receiver));
            } else {
                socket.binaryMessageHandler(message -> received(message.getBytes(), receiver));
            }
            socket.resume();
        });
    }

    private void received(String message, Function<byte[], CompletableFuture<?>> receiver) {
        byte[] decoded;
        try {
            decoded = ChannelFrames.decode(message);
        } catch (IllegalArgumentException e) {
            log.debug("a client sent what is not Base64; closing its WebSocket");
            socket.close();
            return;
        }
        received(decoded, receiver);
    }

    private void received(byte[] message, Function<byte[], CompletableFuture<?>> receiver) {
        socket.pause();
        receiver.apply(message).whenComplete((done, thrown) -> eventLoop.runOnContext(next -> socket.resume()));
    }

    @Override
    public void ping() {
        eventLoop.runOnContext(nothing -> {
            if (!socket.isClosed()) {
                socket.writePing(Buffer.buffer());
            }
        });
    }

    @Override
    public void close() {
        eventLoop.runOnContext(nothing -> {
            if (!socket.isClosed()) {
                socket.close();
            }
        });
    }

    @Override
    public CompletableFuture<?> closed() {
        return closed;
    }
}
