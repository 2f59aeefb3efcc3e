package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Throwables;
import com.google.common.net.InetAddresses;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.apiserver.http.ServerEndpoint.Target;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.proxy.HttpProxyHandler;
import io.netty.handler.proxy.ProxyConnectException;
import io.netty.handler.proxy.ProxyConnectionEvent;
import io.netty.handler.proxy.ProxyHandler;
import io.netty.handler.proxy.Socks4ProxyHandler;
import io.netty.handler.proxy.Socks5ProxyHandler;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import io.netty.resolver.NoopAddressResolverGroup;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Implements {@link Wire} with Netty: connects, asks a proxy for a tunnel, shakes hands, and leaves the open connection
 * to {@link Http2Streams} or {@link Http1Exchanges}. Confined to one event loop.
 */
final class NettyWire implements Wire {

    /*
     * protocol  closed  what
     * null      false   opening: TCP, TLS to a proxy, its tunnel, TLS to the server; each step may fail, which closes it
     * set       false   open; the protocol tells opened(), limited() and retired(), and at last ended()
     * any       true    the listener hears nothing more; the streams break when the channel ends
     *
     * No class of Netty is used that logs at INFO or above what a server can cause: neither its pipeline's end, nor the
     * negotiation of protocols, nor the limit of control frames. Causes are replaced if they may quote what was received.
     */

    private static final Stream NOTHING_SENT = new Stream() {
        @Override
        public void reset() {}

        @Override
        public void goOn() {}
    };

    private static final Logger log = LoggerFactory.getLogger(NettyWire.class);

    /** The time to send what says goodbye. */
    private static final long MOST_SECONDS_OF_CLOSING = 1;

    /**
     * Small, because the data of a connection is passed on at once. The defaults of Netty 4.1 and 4.2 differ, so it is
     * chosen here: one arena outside the heap, of chunks of 256 KiB, and none in the heap. Large answers are as fast as with Netty's
     * pooled default and without a pool: 10 MB by TLS took 54, 54 and 47 ms at best, and 85, 78 and 79 ms in the median of 15 turns
     * on two busy cores ({@code ListThroughputRun}). A process with 600 watches takes 8 MB less than with the pooled default.
     */
    static final ByteBufAllocator BUFFERS = new PooledByteBufAllocator(true, 0, 1, 8192, 5, 64, 16, false);

    private static final ChannelOption<Integer> KEEP_ALIVE_IDLE =
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE);
    private static final ChannelOption<Integer> KEEP_ALIVE_INTERVAL =
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL);
    private static final ChannelOption<Integer> KEEP_ALIVE_COUNT =
            NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT);

    private static final Pattern PROXY_STATUS = Pattern.compile("status: (\\d{3})\\b");
    private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~";

    /** The headers that belong to the connection or that HTTP sets itself. */
    private static final Set<String> NOT_SENT = Set.of(
            "connection",
            "content-length",
            "content-type",
            "host",
            "keep-alive",
            "proxy-connection",
            "te",
            "transfer-encoding",
            "upgrade");

    private final Target target;
    private final Listener listener;
    private final EventLoop loop;
    private final ByteBufAllocator buffers;
    private @Nullable Channel channel; // null until the connection is being opened
    private @Nullable Protocol protocol; // null until it is open
    private boolean closed;

    /** What an open connection speaks. */
    interface Protocol {

        /** Implements {@link Wire#send}, also while the connection is being closed. */
        Stream send(ServerRequest request, Map<String, List<String>> headers, Response response);

        /** Implements {@link Wire#ping}. */
        void ping(Runnable answered);
    }

    NettyWire(Target target, Listener listener, EventLoop loop, ByteBufAllocator buffers) {
        this.target = target;
        this.listener = listener;
        this.loop = loop;
        this.buffers = buffers;
    }

    /**
     * Opens the connection. The listener is called later; by this method only if the event loop ends.
     *
     * @return the channel of the connection, which may be closed already
     * @throws IllegalArgumentException if the settings cannot be used
     */
    Channel open(TlsHandlers tls) {
        ProxyAddress proxy = target.settings().proxy();
        boolean tunnels = proxy != null && !target.forwarded();
        List<ChannelHandler> steps = new ArrayList<>();
        SslHandler toProxy = proxy != null && proxy.secure() ? tls.toProxy(target, proxy) : null;
        if (toProxy != null) {
            steps.add(toProxy);
        }
        if (proxy != null && tunnels) {
            steps.add(tunnel(proxy));
        }
        SslHandler toServer = target.secure() ? tls.toServer(target) : null;
        if (toServer != null) {
            steps.add(toServer);
        }
        steps.add(new OpeningSteps(steps.size(), toProxy, toServer));
        ChannelFuture connecting = new Bootstrap()
                .group(loop)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.ALLOCATOR, buffers)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeoutMillis())
                .option(ChannelOption.SO_KEEPALIVE, true)
                .resolver(NoopAddressResolverGroup.INSTANCE)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel registered) {
                        steps.forEach(registered.pipeline()::addLast);
                    }
                })
                .connect(tunnels ? serverAddress() : target.address());
        Channel made = connecting.channel();
        channel = made;
        // Netty calls on another thread if there was no descriptor for a channel, and at once if the loop ends
        connecting.addListener((ChannelFutureListener) done -> {
            Throwable cause = done.cause();
            if (cause != null && loop.isShuttingDown()) {
                ended(translated(cause));
            } else if (cause != null) {
                loop.execute(() -> ended(translated(cause)));
            }
        });
        return made;
    }

    private SocketAddress serverAddress() {
        // a name is for the proxy to resolve
        return InetAddresses.isInetAddress(target.host())
                ? new InetSocketAddress(InetAddresses.forString(target.host()), target.port())
                : InetSocketAddress.createUnresolved(target.host(), target.port());
    }

    private ProxyHandler tunnel(ProxyAddress proxy) {
        String name = proxy.username();
        String secret = proxy.password();
        boolean known = name != null && secret != null;
        InetSocketAddress address = target.address();
        ProxyHandler handler = switch (proxy.scheme()) {
            case "socks4" -> known ? new Socks4ProxyHandler(address, name) : new Socks4ProxyHandler(address);
            case "socks", "socks5", "socks5h" ->
                known ? new Socks5ProxyHandler(address, name, secret) : new Socks5ProxyHandler(address);
            default -> known ? new HttpProxyHandler(address, name, secret) : new HttpProxyHandler(address);
        };
        handler.setConnectTimeoutMillis(timeoutMillis());
        return handler;
    }

    private int timeoutMillis() {
        return (int) Math.min(Integer.MAX_VALUE, target.timeout().toMillis());
    }

    @Override
    public Stream send(ServerRequest request, Map<String, List<String>> headers, Response response) {
        Protocol open = protocol;
        if (closed || open == null) {
            response.broken(new ClosedChannelException(), true);
            return NOTHING_SENT;
        }
        return open.send(request, headers, response);
    }

    @Override
    public void ping(Runnable answered) {
        Protocol open = protocol;
        if (open != null) {
            open.ping(answered);
        }
    }

    @Override
    public void close() {
        closed = true;
        shut();
    }

    /** Reports that requests can be sent. */
    void opened(boolean multiplexed, int limit) {
        if (!closed) {
            tell(() -> listener.opened(multiplexed, limit));
        }
    }

    void limited(int limit) {
        if (!closed) {
            tell(() -> listener.limited(limit));
        }
    }

    void retired() {
        if (!closed) {
            tell(listener::retired);
        }
    }

    /** Reports the end of the connection, after that of its streams. Idempotent. */
    void ended(@Nullable Throwable cause) {
        boolean known = closed;
        closed = true;
        cut();
        if (!known) {
            String why = cause == null ? "closed" : cause.getClass().getName();
            log.debug("a connection to {} ended ({})", target.server(), why);
            tell(() -> listener.closed(cause));
        }
    }

    private void tell(Runnable event) {
        try {
            event.run();
        } catch (RuntimeException | Error e) {
            // catches everything, because Netty would log it with whatever it quotes
            log.error("the listener of a connection to {} failed; this is a bug; going on", target.server(), e);
        }
    }

    /** Closes the channel, after what it has to send if that is possible soon. Its protocol sees the end. Idempotent. */
    void shut() {
        Channel open = channel;
        if (open == null || !open.isOpen()) {
            return;
        }
        open.close();
        if (open.isOpen()) {
            Future<?> timer = loop.schedule(this::cut, MOST_SECONDS_OF_CLOSING, TimeUnit.SECONDS);
            open.closeFuture().addListener(ended -> timer.cancel(false));
        }
    }

    /** Closes the channel now. Its protocol sees the end. Idempotent. */
    void cut() {
        Channel open = channel;
        if (open == null || !open.isOpen()) {
            return;
        }
        // from the first handler on, so that none of them delays it
        ChannelHandlerContext first = open.pipeline().firstContext();
        if (first == null) {
            open.close();
        } else {
            first.close();
        }
    }

    boolean compression() {
        return target.settings().compression();
    }

    String scheme() {
        return target.server().scheme();
    }

    String authority() {
        return target.server().authority();
    }

    /**
     * Returns what stands in the request line for {@code request}.
     *
     * @throws IllegalArgumentException if the method or the path cannot be sent; the message does not quote it
     */
    String uri(ServerRequest request) {
        String uri = (target.forwarded() ? target.server().toString() : target.path()) + request.path();
        if (!isToken(request.method()) || !uri.chars().allMatch(each -> each > ' ' && each < 0x7f)) {
            throw refused();
        }
        return uri;
    }

    /**
     * Passes on each header of {@code request}, but not its host.
     *
     * @throws IllegalArgumentException if one cannot be sent; the message does not quote it, which a library would
     */
    void headers(ServerRequest request, Map<String, List<String>> given, BiConsumer<String, String> to) {
        boolean encodings = false;
        for (Map.Entry<String, List<String>> each : given.entrySet()) {
            String name = each.getKey();
            String lower = name.toLowerCase(Locale.ROOT);
            encodings |= lower.equals("accept-encoding");
            for (String value : each.getValue()) {
                if (!isToken(name) || !value.chars().allMatch(NettyWire::isInValue)) {
                    throw refused();
                }
                if (!NOT_SENT.contains(lower)) {
                    to.accept(name, value);
                }
            }
        }
        if (compression() && !encodings) {
            to.accept("Accept-Encoding", "gzip");
        }
        ServerRequest.Body body = request.body();
        if (body != null) {
            to.accept("Content-Type", body.mediaType());
        }
        ProxyAddress proxy = target.settings().proxy();
        if (proxy != null && target.forwarded() && proxy.username() != null && proxy.password() != null) {
            byte[] credentials = (proxy.username() + ":" + proxy.password()).getBytes(UTF_8);
            to.accept("Proxy-Authorization", "Basic " + Base64.getEncoder().encodeToString(credentials));
        }
    }

    private static boolean isToken(String text) {
        return !text.isEmpty()
                && text.chars()
                        .allMatch(each -> (each >= '0' && each <= '9')
                                || (each >= 'a' && each <= 'z')
                                || (each >= 'A' && each <= 'Z')
                                || TOKEN_MARKS.indexOf(each) >= 0);
    }

    /** One byte of the value in each character. */
    private static boolean isInValue(int each) {
        return each == '\t' || (each >= ' ' && each <= 0xff && each != 0x7f);
    }

    /** Returns what stands for the exception of a library, which quotes what it refuses. */
    static IllegalArgumentException refused() {
        return new IllegalArgumentException("a part of the request is not legal in HTTP");
    }

    /** Returns what a listener may see of {@code thrown}, which may quote what was received. */
    static Throwable translated(Throwable thrown) {
        List<Throwable> chain = Throwables.getCausalChain(thrown);
        for (Throwable cause : chain) {
            // a handshake through a tunnel fails with it too
            if (cause instanceof ProxyConnectException) {
                return ofProxy(cause);
            }
        }
        for (Throwable cause : chain) {
            if (cause instanceof NotSslRecordException) {
                return new SSLException("what answered does not speak TLS");
            }
            if (cause instanceof ClosedChannelException) {
                return new ClosedChannelException();
            }
            // it is an SSLException that says nothing of certificates: a load balancer without a server may be silent
            if (cause instanceof SslHandshakeTimeoutException) {
                return new TimeoutException("the TLS handshake did not end in time");
            }
            // such as a ConnectException or an SSLException
            if (cause instanceof IOException) {
                return cause;
            }
        }
        return new IOException("unexpected " + thrown.getClass().getName());
    }

    private static Throwable ofProxy(Throwable cause) {
        if (Throwables.getCausalChain(cause).stream().anyMatch(SSLException.class::isInstance)) {
            return ofProxyTls(cause);
        }
        String message = String.valueOf(cause.getMessage());
        Matcher status = PROXY_STATUS.matcher(message);
        if (status.find()) {
            return new ConnectException("the proxy answered with HTTP " + status.group(1));
        }
        return new ConnectException(
                message.endsWith(", timeout")
                        ? "the proxy did not answer in time"
                        : "the proxy refused the connection");
    }

    /** Has no cause, so that its own message is shown, which names the proxy. */
    private static Throwable ofProxyTls(Throwable cause) {
        Throwable root = Throwables.getRootCause(cause);
        if (root instanceof SslHandshakeTimeoutException) {
            return new ConnectException("the proxy did not answer in time");
        }
        if (root instanceof SSLException) {
            return new SSLException("the proxy: " + translated(root).getMessage());
        }
        // without a word of TLS, or why its certificate is not trusted
        return root instanceof IOException
                ? new ConnectException("the proxy refused the connection")
                : new SSLException("the proxy: " + root.getMessage());
    }

    /** The end of the pipeline while the connection is being opened. */
    private final class OpeningSteps extends ChannelInboundHandlerAdapter {

        private final @Nullable SslHandler toProxy; // null without TLS
        private final @Nullable SslHandler toServer; // null without TLS
        private int steps; // tunnels and handshakes to come

        OpeningSteps(int steps, @Nullable SslHandler toProxy, @Nullable SslHandler toServer) {
            this.steps = steps;
            this.toProxy = toProxy;
            this.toServer = toServer;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            keepAlive(context.channel());
            if (steps == 0) {
                ready(context);
            }
        }

        /** An HTTP/1.1 watch has no pings. Without this, a dead peer would look like an idle one for hours. */
        private void keepAlive(Channel made) {
            // no effect where the operating system does not have them
            made.config().setOption(KEEP_ALIVE_IDLE, 30);
            made.config().setOption(KEEP_ALIVE_INTERVAL, 10);
            made.config().setOption(KEEP_ALIVE_COUNT, 3);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof SslHandshakeCompletionEvent handshake && !handshake.isSuccess()) {
                boolean ofProxy = toProxy != null && !toProxy.handshakeFuture().isSuccess();
                ended(ofProxy ? ofProxyTls(handshake.cause()) : translated(handshake.cause()));
            } else if (event instanceof SslHandshakeCompletionEvent || event instanceof ProxyConnectionEvent) {
                steps--;
                if (steps == 0) {
                    ready(context);
                }
            }
        }

        private void ready(ChannelHandlerContext context) {
            if (closed) {
                return;
            }
            boolean http2 = toServer == null
                    ? target.multiplexed()
                    : TlsHandlers.HTTP_2.equals(toServer.engine().getApplicationProtocol());
            protocol = http2
                    ? Http2Streams.added(context.pipeline(), NettyWire.this)
                    : Http1Exchanges.added(context.pipeline(), NettyWire.this);
            context.pipeline().remove(this);
            if (!http2) {
                opened(false, 1);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            ended(translated(cause));
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            ended(new ClosedChannelException());
        }
    }
}
