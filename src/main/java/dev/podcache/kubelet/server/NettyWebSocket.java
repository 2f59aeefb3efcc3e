package dev.podcache.kubelet.server;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A WebSocket. Its methods may be called by any thread; its fields are used by the event loop, except the final ones. */
final class NettyWebSocket implements MessageChannel {

    /** Of a message, and of a frame. */
    static final int LONGEST_MESSAGE = 1 << 20;

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    private final Channel channel;
    private final ConnectionGate gate;
    private final boolean text;
    private final CompletableFuture<Object> closed = new CompletableFuture<>();

    // that were in one part of the network's data; while one waits, nothing is read
    private final Queue<byte[]> waiting = new ArrayDeque<>();
    private @Nullable Function<byte[], CompletableFuture<?>> receiver;
    private boolean receiving;
    private boolean delivering;
    private boolean closing;
    private volatile boolean heldUp;

    /**
     * Takes over a connection after the handshake. Must be called on the event loop.
     *
     * @param text whether messages are text, with their content in Base64
     */
    NettyWebSocket(Channel channel, ConnectionGate gate, boolean text, Runnable onClose) {
        this.channel = channel;
        this.gate = gate;
        this.text = text;
        channel.pipeline().addLast("messages", new WholeMessages()).addLast("webSocket", new WebSocketFrames());
        channel.closeFuture().addListener(gone -> {
            onClose.run();
            waiting.clear();
            closed.complete(this);
        });
    }

    /** Makes messages of frames. Leaves it to the gate when to read: Netty's would read on until a message is whole. */
    private static final class WholeMessages extends WebSocketFrameAggregator {

        WholeMessages() {
            super(LONGEST_MESSAGE);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.fireChannelReadComplete();
        }
    }

    /** Reads frames, of which the aggregator made whole messages. */
    private final class WebSocketFrames extends SimpleChannelInboundHandler<WebSocketFrame> {

        @Override
        protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
            if (frame instanceof PingWebSocketFrame) {
                context.writeAndFlush(new PongWebSocketFrame(frame.content().retain()));
            } else if (frame instanceof CloseWebSocketFrame) {
                closeNow();
            } else if (text && frame instanceof TextWebSocketFrame message) {
                decode(message.text());
            } else if (!text && frame instanceof BinaryWebSocketFrame) {
                add(ByteBufUtil.getBytes(frame.content()));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
            log.debug("a WebSocket failed: {}", failure.getClass());
            gate.abort();
        }
    }

    @Override
    public CompletableFuture<?> send(byte[] message) {
        CompletableFuture<Object> sent = new CompletableFuture<>();
        onLoop(
                () -> {
                    if (closing || !channel.isActive()) {
                        sent.completeExceptionally(gone());
                        return;
                    }
                    WebSocketFrame frame = text
                            ? new TextWebSocketFrame(ChannelFrames.encode(message))
                            : new BinaryWebSocketFrame(Unpooled.wrappedBuffer(message));
                    ChannelFuture written = channel.writeAndFlush(frame);
                    written.addListener(done -> {
                        if (done.isSuccess()) {
                            sent.complete(this);
                        } else {
                            sent.completeExceptionally(done.cause());
                        }
                    });
                },
                () -> sent.completeExceptionally(gone()));
        return sent;
    }

    private static IOException gone() {
        return new IOException("the client has closed the WebSocket");
    }

    @Override
    public void receive(Function<byte[], CompletableFuture<?>> newReceiver) {
        onLoop(() -> {
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
            closeNow();
            return;
        }
        add(decoded);
    }

    private void add(byte[] message) {
        if (!closing && !closed.isDone()) {
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
                received.whenComplete((done, thrown) -> onLoop(() -> {
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
        onLoop(() -> {
            if (!closing && channel.isActive()) {
                channel.writeAndFlush(new PingWebSocketFrame());
            }
        });
    }

    @Override
    public void close() {
        onLoop(this::closeNow);
    }

    /** Sends that it ends, once; the gate then ends the connection. */
    private void closeNow() {
        if (!closing && channel.isActive()) {
            closing = true;
            gate.endWebSocket(
                    channel.writeAndFlush(new CloseWebSocketFrame(WebSocketCloseStatus.NORMAL_CLOSURE.code(), "")));
        }
    }

    private void onLoop(Runnable task) {
        onLoop(task, () -> {});
    }

    private void onLoop(Runnable task, Runnable ifClosed) {
        try {
            channel.eventLoop().execute(task);
        } catch (RejectedExecutionException loopEnded) {
            ifClosed.run();
        }
    }

    @Override
    public CompletableFuture<?> closed() {
        return closed;
    }
}
