package dev.podcache.apiserver.http;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.impl.VertxBuilder;
import io.vertx.core.impl.transports.JDKTransport;
import io.vertx.core.net.NetServerOptions;
import java.time.Duration;
import java.util.function.Consumer;

/** Starts an event loop for a client of Podcache or an endpoint of a node. */
public final class EventLoop {

    /** Vert.x would wake a thread each second, for each instance. An idle agent should sleep. */
    private static final Duration BLOCKED_CHECK = Duration.ofSeconds(10);

    private EventLoop() {}

    /**
     * Starts an event loop on a daemon thread. Vert.x writes no files and has as few other threads as possible.
     *
     * @return to be closed by the caller
     */
    public static Vertx start() {
        return Vertx.vertx(options());
    }

    /**
     * Starts an event loop as {@link #start} does, for servers.
     *
     * @param accepted called for each connection that a server accepts, by the thread that accepts, before anything is read from it;
     *     must neither block nor throw
     */
    public static Vertx start(Consumer<Channel> accepted) {
        return new VertxBuilder(options())
                .findTransport(new ObservedTransport(accepted))
                .init()
                .vertx();
    }

    /** That of the JDK, with a first look at each connection: Vert.x shows one only after its TLS handshake. */
    private static final class ObservedTransport extends JDKTransport {

        private final Consumer<Channel> accepted;

        ObservedTransport(Consumer<Channel> accepted) {
            this.accepted = accepted;
        }

        @Override
        public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
            super.configure(options, domainSocket, bootstrap);
            bootstrap.handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext server, Object connection) {
                    if (connection instanceof Channel channel) {
                        accepted.accept(channel);
                    }
                    server.fireChannelRead(connection);
                }
            });
        }
    }

    private static VertxOptions options() {
        return new VertxOptions()
                .setEventLoopPoolSize(1)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setUseDaemonThread(true)
                .setBlockedThreadCheckInterval(BLOCKED_CHECK.toMillis())
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false));
    }
}
