package dev.podcache.kubelet.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Counts a connection from its accept on, and what it sends until the end of its TLS handshake, of which each part waits for its turn
 * in {@link Handshakes}. Its methods are called by the event loop.
 */
final class ConnectionGuard extends ChannelInboundHandlerAdapter {

    /** As much as a record of TLS. The default is 64 KiB, four times what waits before a client is not read from. */
    private static final int LARGEST_READ = 16 << 10;

    private static final int SMALLEST_READ = 64;
    private static final int FIRST_READ = 2048;

    private final Channel channel;
    private final OpenConnections connections;
    private final HeldBytes.HeldShare handshake;
    private final ClientSource source;
    private Optional<OpenConnections.OpenConnection> connection = Optional.empty();
    private final Optional<Handshakes> handshakes;
    private volatile @Nullable ChannelHandlerContext self; // null before it is in the pipeline
    private @Nullable ByteBuf waiting; // the part of the handshake that waits; the client is not read from meanwhile
    private boolean established;
    private long received;

    /**
     * Creates a guard for a pipeline.
     *
     * @param handshakes empty if the listener has no TLS
     */
    ConnectionGuard(Channel channel, OpenConnections connections, HeldBytes budget, Optional<Handshakes> handshakes) {
        this.connections = connections;
        this.channel = channel;
        this.handshakes = handshakes;
        this.handshake = budget.holding(this::cut);
        this.source = ClientSource.of(
                channel.remoteAddress() instanceof InetSocketAddress address ? address.getAddress() : null);
    }

    /** Returns who the client is, as far as the network knows. */
    ClientSource source() {
        return source;
    }

    /** Returns the connection; empty if there are too many, and this one is being closed. */
    Optional<OpenConnections.OpenConnection> connection() {
        return connection;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        self = context;
        channel.config()
                .setRecvByteBufAllocator(new AdaptiveRecvByteBufAllocator(SMALLEST_READ, FIRST_READ, LARGEST_READ));
        connection = connections.opened(source, this::cut);
        channel.closeFuture().addListener(closed -> {
            connection.ifPresent(OpenConnections.OpenConnection::closed);
            handshake.set(0);
            release();
        });
        if (connection.isEmpty()) {
            cut();
        }
    }

    /** Closes the connection at once, whatever was written. May be called by any thread. */
    void cut() {
        ChannelHandlerContext context = self;
        if (context != null) {
            // what is further away from the network waits until the client has read
            context.close();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (established || !(message instanceof ByteBuf bytes)) {
            context.fireChannelRead(message);
            return;
        }
        received += bytes.readableBytes();
        handshake.set(received);
        if (handshakes.isEmpty()) {
            context.fireChannelRead(message);
        } else if (waiting != null) {
            waiting = Unpooled.wrappedBuffer(waiting, bytes);
        } else {
            waiting = bytes;
            channel.config().setAutoRead(false);
            handshakes.get().make(channel.eventLoop(), source, () -> pass(context));
        }
    }

    /** While a part waits, TLS would ask to read more. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (waiting == null) {
            context.fireChannelReadComplete();
        }
    }

    private boolean pass(ChannelHandlerContext context) {
        ByteBuf part = waiting;
        if (part == null) {
            return false;
        }
        waiting = null;
        channel.config().setAutoRead(true);
        context.fireChannelRead(part);
        context.fireChannelReadComplete();
        return true;
    }

    private void release() {
        if (waiting != null) {
            waiting.release();
            waiting = null;
        }
    }

    /** The TLS handshake has ended, or there is none. */
    void established() {
        established = true;
        handshake.set(0);
        connection.ifPresent(OpenConnections.OpenConnection::established);
    }
}
