package dev.podcache.kubelet.server;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ServerWebSocket;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A WebSocket. Its methods may be called by any thread; its fields are used by the event loop, except the final ones. */
final class VertxWebSocket implements MessageChannel {

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    private final ServerWebSocket socket;
    private final Context eventLoop;
    private final ConnectionGate gate;
    private final boolean text;
    private final CompletableFuture<Object> closed = new CompletableFuture<>();

    // that were in one part of the network's data; while one waits, nothing is read
    private final Queue<byte[]> waiting = new ArrayDeque<>();
    private @Nullable Function<byte[], CompletableFuture<?>> receiver;
    private boolean receiving;
    private boolean delivering;
    private volatile boolean heldUp;

    /** @param text whether messages are text, with their content in Base64 */
    VertxWebSocket(ServerWebSocket socket, Context eventLoop, ConnectionGate gate, boolean text, Runnable onClose) {
        this.socket = socket;
        this.eventLoop = eventLoop;
        this.gate = gate;
        this.text = text;
        socket.exceptionHandler(e -> log.debug("a WebSocket failed: {}", e.getClass()));
        socket.closeHandler(gone -> {
            onClose.run();
            waiting.clear();
            closed.complete(this);
        });
        if (text) {
            socket.textMessageHandler(this::decode);
        } else {
            socket.binaryMessageHandler(message -> add(message.getBytes()));
        }
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
            written.onComplete(done -> {
                if (done.succeeded()) {
                    sent.complete(this);
                } else {
                    sent.completeExceptionally(done.cause());
                }
            });
        });
        return sent;
    }

    @Override
    public void receive(Function<byte[], CompletableFuture<?>> newReceiver) {
        eventLoop.runOnContext(nothing -> {
            receiver = newReceiver;
            deliver();
        });
    }

    private void decode(String message) {
        byte[] decoded;
        try {
            decoded = ChannelFrames.decode(message);
        } catch (IllegalArgumentException e) {
            log.debug("a client sent what is not Base64; closing its WebSocket");
            socket.close();
            return;
        }
        add(decoded);
    }

    private void add(byte[] message) {
        if (!closed.isDone()) {
            waiting.add(message);
            deliver();
        }
    }

    /** Delivers what waits, one message at a time; a receiver may be done at once. */
    private void deliver() {
        if (delivering) {
            return;
        }
        delivering = true;
        Function<byte[], CompletableFuture<?>> to = receiver;
        while (to != null && !receiving && !waiting.isEmpty()) {
            receiving = true;
            CompletableFuture<?> received = to.apply(waiting.remove());
            if (received.isDone()) {
                receiving = false;
            } else {
                received.whenComplete((done, thrown) -> eventLoop.runOnContext(nothing -> {
                    receiving = false;
                    deliver();
                }));
            }
        }
        delivering = false;
        if (heldUp == waiting.isEmpty()) {
            heldUp = !waiting.isEmpty();
            gate.hold(heldUp);
        }
    }

    @Override
    public boolean isHeldUp() {
        return heldUp;
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
