package dev.podcache.kubelet.server;

import io.vertx.core.Context;
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
    private final CompletableFuture<Object> closed = new CompletableFuture<>();

    VertxWebSocket(ServerWebSocket socket, Context eventLoop, Runnable onClose) {
        this.socket = socket;
        this.eventLoop = eventLoop;
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
            socket.writeBinaryMessage(Buffer.buffer(message)).onComplete(done -> sent.complete(this));
        });
        return sent;
    }

    @Override
    public void receive(Function<byte[], CompletableFuture<?>> receiver) {
        eventLoop.runOnContext(nothing -> {
            socket.binaryMessageHandler(message -> {
                socket.pause();
                receiver.apply(message.getBytes())
                        .whenComplete((done, thrown) -> eventLoop.runOnContext(next -> socket.resume()));
            });
            socket.resume();
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
