package dev.podcache.kubelet.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Counts a connection from its accept on, and what it sends until the end of its TLS handshake. Its methods are called by the
 * event loop.
 */
final class ConnectionGuard extends ChannelInboundHandlerAdapter {

    private final Channel channel;
    private final OpenConnections connections;
    private final HeldBytes.HeldShare handshake;
    private final ClientSource source;
    private Optional<OpenConnections.OpenConnection> connection = Optional.empty();
    private volatile @Nullable ChannelHandlerContext self; // null before it is in the pipeline
    private boolean established;
    private long received;

    ConnectionGuard(Channel channel, OpenConnections connections, HeldBytes budget) {
        this.connections = connections;
        this.channel = channel;
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
        connection = connections.opened(this::cut);
        channel.closeFuture().addListener(closed -> {
            connection.ifPresent(OpenConnections.OpenConnection::closed);
            handshake.set(0);
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
        if (!established && message instanceof ByteBuf bytes) {
            received += bytes.readableBytes();
            handshake.set(received);
        }
        context.fireChannelRead(message);
    }

    /** The TLS handshake has ended, or there is none. */
    void established() {
        established = true;
        handshake.set(0);
        connection.ifPresent(OpenConnections.OpenConnection::established);
    }
}
