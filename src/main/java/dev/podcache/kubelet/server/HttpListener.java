package dev.podcache.kubelet.server;

import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSessionContext;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts connections by HTTP/1.1 on one event loop; by TLS if its options say so. Thread-safe. */
final class HttpListener implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    private static final ThreadFactory THREADS = new DefaultThreadFactory("podcache-server", true);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Small, because a node has few clients; not Netty's default, which differs between its versions. */
    private static final ByteBufAllocator BUFFERS = new PooledByteBufAllocator(true, 0, 1, 8192, 5, 64, 16, false);

    /** Each needs up to 40 KiB with TLS. A heap that is almost full is collected without end. */
    private static final int MOST_CONNECTIONS =
            (int) Math.min(1024, Runtime.getRuntime().maxMemory() / (128 << 10));

    private static final int MOST_SESSIONS = 256;
    private static final int LARGEST_CHUNK = 8192;

    private final EventLoopGroup loop = new NioEventLoopGroup(1, THREADS);
    private final Timekeeper timekeeper;
    private final OpenConnections connections;
    private final Function<KubeletRequest, CompletableFuture<KubeletResponse>> handler;
    private final Transfers transfers;
    private final Set<ConnectionGuard> open = ConcurrentHashMap.newKeySet();

    private @Nullable Channel server; // guarded by this, like the next one; null until it listens
    private volatile boolean closed;

    /**
     * How a listener reads requests.
     *
     * @param longestLine the longest request line, in bytes
     * @param tls makes the engine of each connection; empty without TLS
     */
    record ListenerProtocol(int longestLine, Optional<Supplier<SSLEngine>> tls) {

        static final ListenerProtocol PLAIN = new ListenerProtocol(4096, Optional.empty());
    }

    /** Continues a response that is more than a body. The methods must neither block nor throw. */
    interface Transfers {

        /** For a listener whose responses are bodies only. */
        Transfers NONE = new Transfers() {
            @Override
            public boolean authenticates() {
                return false;
            }

            @Override
            public void send(KubeletResponse.Streamed source, ResponseStream client) {
                source.release().run();
                client.abort();
            }

            @Override
            public void run(KubeletResponse.Upgrade upgrade, MessageChannel client) {
                upgrade.release().run();
                client.close();
            }
        };

        /** Returns whether an answer other than 400, 401 and 429 says that the client was authenticated. */
        default boolean authenticates() {
            return true;
        }

        void send(KubeletResponse.Streamed source, ResponseStream client);

        void run(KubeletResponse.Upgrade upgrade, MessageChannel client);
    }

    /**
     * Creates a listener that does not listen yet.
     *
     * @param handler answers a request; must neither block nor throw nor fail
     */
    HttpListener(
            Function<KubeletRequest, CompletableFuture<KubeletResponse>> handler,
            Transfers transfers,
            Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.handler = handler;
        this.transfers = transfers;
        this.connections = new OpenConnections(MOST_CONNECTIONS, timekeeper);
    }

    /**
     * Has a client that is gone without a word noticed, also where nothing is sent to it, as by the log of a silent
     * container that is followed. The times are those of Go, which a kubelet has.
     */
    private static void keepAlive(ServerBootstrap bootstrap) {
        bootstrap
                .childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), 15)
                .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), 15)
                .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), 9);
    }

    /** Starts to listen without TLS; otherwise like {@link #listen(ListenerProtocol, String, int)}. */
    void listen(String host, int port) throws IOException {
        listen(ListenerProtocol.PLAIN, host, port);
    }

    /**
     * Starts to listen; waits at most 10 s. Call it once.
     *
     * @param port 0 for any free port
     * @throws IOException if the address cannot be used
     */
    void listen(ListenerProtocol protocol, String host, int port) throws IOException {
        Optional<Handshakes> handshakes = protocol.tls().map(engines -> new Handshakes());
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loop)
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.ALLOCATOR, BUFFERS)
                .handler(new AcceptFailures())
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        accepted(channel, protocol, handshakes);
                    }
                });
        keepAlive(bootstrap);
        ChannelFuture bound = bootstrap.bind(new InetSocketAddress(InetAddress.getByName(host), port));
        CompletableFuture<Object> done = new CompletableFuture<>();
        bound.addListener(ready -> done.complete(ready));
        try {
            if (!timekeeper.await(done, TIMEOUT)) {
                bound.addListener(late -> bound.channel().close());
                throw new IOException("no answer within " + TIMEOUT.toSeconds() + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        if (bound.cause() != null) {
            throw new IOException(String.valueOf(bound.cause().getMessage()), bound.cause());
        }
        synchronized (this) {
            server = bound.channel();
        }
    }

    /** Returns the port that is listened on; 0 if there is none. */
    synchronized int port() {
        return server != null && server.localAddress() instanceof InetSocketAddress address ? address.getPort() : 0;
    }

    private void accepted(SocketChannel channel, ListenerProtocol protocol, Optional<Handshakes> handshakes) {
        ConnectionGuard guard = new ConnectionGuard(channel, connections, HeldBytes.RECEIVED, handshakes);
        channel.pipeline().addLast("guard", guard);
        open.add(guard);
        channel.closeFuture().addListener(gone -> open.remove(guard));
        if (closed) {
            guard.cut();
            return;
        }
        if (protocol.tls().isEmpty()) {
            established(channel, guard, protocol);
            return;
        }
        SslHandler tls = new SslHandler(protocol.tls().get().get());
        tls.setHandshakeTimeoutMillis(TIMEOUT.toMillis());
        channel.pipeline().addLast("tls", tls).addLast("handshake", new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext context, Object event) {
                if (event instanceof SslHandshakeCompletionEvent completed && completed.isSuccess()) {
                    refuseFurtherHandshakes(tls.engine());
                    TlsAnswers.limit(context.pipeline(), guard::cut);
                    established(channel, guard, protocol);
                    context.pipeline().remove(this);
                }
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
                failed(failure);
                guard.cut();
            }
        });
    }

    private void established(SocketChannel channel, ConnectionGuard guard, ListenerProtocol protocol) {
        guard.established();
        if (guard.connection().isEmpty()) {
            return; // it is being closed
        }
        channel.pipeline()
                .addLast(
                        "httpDecoder",
                        new HttpRequestDecoder(
                                protocol.longestLine(), ConnectionGate.LONGEST_HEADERS + 1, LARGEST_CHUNK))
                .addLast("httpEncoder", new HttpResponseEncoder());
        ConnectionGate gate = ConnectionGate.install(
                channel,
                guard.connection().get(),
                guard,
                new ConnectionGate.GateParts(timekeeper, HeldBytes.RECEIVED, HeldBytes.UNSENT, protocol.longestLine()));
        channel.pipeline().addLast("requests", new Requests(channel, gate));
    }

    /** A client of TLS 1.2 could have the certificate of the connection replaced, or the server work without end. */
    private static void refuseFurtherHandshakes(SSLEngine engine) {
        engine.setEnabledCipherSuites(new String[0]);
        SSLSessionContext sessions = engine.getSession().getSessionContext();
        if (sessions != null && sessions.getSessionCacheSize() != MOST_SESSIONS) {
            // by default 20,480, of clients that take no tickets
            sessions.setSessionCacheSize(MOST_SESSIONS);
        }
    }

    /** The message of an exception may quote what a client sent, such as its token. */
    static void failed(Throwable failure) {
        boolean ofNetwork = failure instanceof IOException && !(failure.getCause() instanceof RuntimeException);
        log.debug("a connection failed: {}", ofNetwork ? Quoted.text(failure.toString()) : failure.getClass());
    }

    /** Such as too many open files. Netty accepts again after a second. */
    private static final class AcceptFailures extends ChannelInboundHandlerAdapter {

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
            failed(failure);
        }
    }

    /** The requests of one connection, of which the gate passes one at a time. Used by the event loop only. */
    private final class Requests extends ChannelInboundHandlerAdapter {

        private final SocketChannel channel;
        private final ConnectionGate gate;
        private @Nullable HttpExchange current;
        private boolean lastBegan;

        Requests(SocketChannel channel, ConnectionGate gate) {
            this.channel = channel;
            this.gate = gate;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof HttpRequest request) {
                // the gate passes on all that follows a chunked body, whose end only the decoder knows
                if (!lastBegan) {
                    begin(request);
                }
            } else if (message instanceof HttpContent content) {
                HttpExchange receiving = current;
                if (receiving != null) {
                    receiving.received(content);
                }
                content.release();
            } else {
                context.fireChannelRead(message);
            }
        }

        private void begin(HttpRequest http) {
            HttpExchange exchange = new HttpExchange(http, channel, gate, transfers);
            current = exchange;
            lastBegan = gate.isLast();
            KubeletRequest request;
            try {
                request = exchange.begin();
            } catch (RuntimeException e) {
                gate.endWithAnswer();
                exchange.answer(KubeletResponse.text(400, "the request cannot be read"));
                return;
            }
            handler.apply(request).thenAccept(exchange::answerSoon);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            HttpExchange ended = current;
            if (ended != null) {
                ended.disconnected();
            }
            context.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
            failed(failure);
            gate.abort();
        }
    }

    /** Closes all connections and ends the thread; waits at most 10 s. Idempotent. */
    @Override
    public void close() {
        Channel listening;
        synchronized (this) {
            closed = true;
            listening = server;
        }
        if (listening != null) {
            listening.close();
        }
        // Netty 4.2 may end without closing them
        List.copyOf(open).forEach(ConnectionGuard::cut);
        loop.shutdownGracefully(0, TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        try {
            if (!loop.next().inEventLoop() && !loop.awaitTermination(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                log.warn(
                        "the event loop of a listener did not end within {} s; its thread ends later",
                        TIMEOUT.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
