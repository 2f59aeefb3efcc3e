package dev.podcache.kubelet.probe;

import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.probe.GrpcCheck.GrpcResponse;
import dev.podcache.kubelet.probe.HttpCheck.HttpProbeResponse;
import dev.podcache.kubelet.probe.ProbeLookups.HostAddresses;
import dev.podcache.time.Timekeeper;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connections of probes and lifecycle hooks: one per check, on one event loop. It may be shared by the {@link Probes} of several nodes.
 * Its thread starts with the first check that needs it. Must be closed after them. Thread-safe; no method but {@link
 * #close} blocks.
 */
public final class ProbeNetwork implements AutoCloseable {

    private static final ThreadFactory THREADS = new DefaultThreadFactory("podcache-probes", true);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    private final Timekeeper timekeeper;
    private final String version;
    private final ProbeLookups lookups;
    private @Nullable OpenNetwork opened; // guarded by this; null until the first check, and after close()
    private boolean closed; // guarded by this

    /** The event loop, and the connections on it. */
    private record OpenNetwork(EventLoopGroup loop, ChannelGroup connections) {}

    /**
     * Creates a network without starting its thread.
     *
     * @param timekeeper the timers and threads of all {@link Probes} on this network; not closed by this
     * @param version the version of the kubelet in the {@code User-Agent}, such as {@code 1.36}
     */
    public ProbeNetwork(Timekeeper timekeeper, String version) {
        this(timekeeper, version, InetAddress::getAllByName);
    }

    ProbeNetwork(Timekeeper timekeeper, String version, HostAddresses resolver) {
        this.timekeeper = Objects.requireNonNull(timekeeper, "timekeeper");
        this.version = Objects.requireNonNull(version, "version");
        lookups = new ProbeLookups(resolver);
    }

    Timekeeper timekeeper() {
        return timekeeper;
    }

    String userAgent() {
        return "kube-probe/" + version;
    }

    /** Returns the user agent of lifecycle hooks. */
    String hookUserAgent() {
        return "kube-lifecycle/" + version;
    }

    /**
     * Sends an HTTP request, without checking the server's certificate.
     *
     * @param timeout the limit for opening the connection; the caller limits the rest
     * @param end closes the connection when it completes
     * @throws IllegalStateException if this network is closed
     */
    CompletableFuture<HttpProbeResponse> get(HttpProbeRequest request, Duration timeout, CompletableFuture<?> end) {
        CompletableFuture<HttpProbeResponse> result = new CompletableFuture<>();
        new Dial(request.address(), timeout, end, result) {
            @Override
            void prepare(ChannelPipeline pipeline) {
                HttpProbeCall.add(pipeline, request, timeout, result);
            }
        }.start();
        return result;
    }

    /** Calls the gRPC health check with a framed message, by HTTP/2 without TLS. The arguments are as in {@link #get}. */
    CompletableFuture<GrpcResponse> call(
            ProbeAddress address, byte[] message, Duration timeout, CompletableFuture<?> end) {
        CompletableFuture<GrpcResponse> result = new CompletableFuture<>();
        new Dial(address, timeout, end, result) {
            @Override
            void prepare(ChannelPipeline pipeline) {
                GrpcProbeCall.add(pipeline, address, message, timeout, userAgent(), result);
            }
        }.start();
        return result;
    }

    /** Opens a TCP connection, and reads nothing. The arguments are as in {@link #get}. */
    CompletableFuture<?> connect(ProbeAddress address, Duration timeout, CompletableFuture<?> end) {
        CompletableFuture<@Nullable Void> result = new CompletableFuture<>();
        new Dial(address, timeout, end, result) {
            @Override
            void prepare(ChannelPipeline pipeline) {
                pipeline.channel().config().setAutoRead(false);
            }

            @Override
            void connected() {
                result.complete(null);
            }
        }.start();
        return result;
    }

    /** Opens the connection of one check: looks up its addresses, and tries one after another. */
    private abstract class Dial {

        private final ProbeAddress address;
        private final Duration timeout;
        private final CompletableFuture<?> end;
        private final CompletableFuture<?> result;
        private final OpenNetwork on = opened();

        Dial(ProbeAddress address, Duration timeout, CompletableFuture<?> end, CompletableFuture<?> result) {
            this.address = address;
            this.timeout = timeout;
            this.end = end;
            this.result = result;
        }

        /** Adds what speaks to the server to the pipeline of a connection that is not open yet. */
        abstract void prepare(ChannelPipeline pipeline);

        void connected() {}

        void start() {
            String host = address.host();
            if (InetAddresses.isInetAddress(host)) {
                connect(List.of(InetAddresses.forString(host)));
            } else {
                // throws if the network was closed meanwhile
                lookups.addresses(host).whenComplete(this::lookedUp);
            }
        }

        private void lookedUp(@Nullable List<InetAddress> found, @Nullable Throwable failure) {
            if (end.isDone()) {
                // the lookup took too long
                result.cancel(false);
                return;
            }
            if (failure != null && !(failure instanceof UnknownHostException)) {
                result.completeExceptionally(failure);
                return;
            }
            if (found == null) {
                result.completeExceptionally(new UnknownHostException("lookup " + address.host() + ": no such host"));
                return;
            }
            try {
                connect(found);
            } catch (RuntimeException | Error e) {
                // catches everything, because the check waits
                result.completeExceptionally(e);
            }
        }

        private void connect(List<InetAddress> addresses) {
            if (on.loop().isShuttingDown()) {
                result.completeExceptionally(new IllegalStateException("the network of the probes is closed"));
                return;
            }
            long each = Math.max(1, timeout.toMillis() / addresses.size());
            ChannelFuture connecting = new Bootstrap()
                    .group(on.loop())
                    .channel(NioSocketChannel.class)
                    // there are few connections, and each is short
                    .option(ChannelOption.ALLOCATOR, UnpooledByteBufAllocator.DEFAULT)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Math.min(Integer.MAX_VALUE, each))
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            on.connections().add(channel);
                            prepare(channel.pipeline());
                        }
                    })
                    .connect(new InetSocketAddress(addresses.get(0), address.port()));
            end.whenComplete((ended, thrown) -> cut(connecting.channel()));
            connecting.addListener((ChannelFutureListener) done -> {
                Throwable failure = done.cause();
                if (failure == null) {
                    connected();
                } else if (addresses.size() > 1 && !end.isDone()) {
                    connect(addresses.subList(1, addresses.size()));
                } else {
                    result.completeExceptionally(
                            failure instanceof ConnectTimeoutException ? new ConnectException("i/o timeout") : failure);
                }
            });
        }
    }

    /** Closes a connection now, from its first handler on, so that none delays it. Idempotent. */
    private static void cut(Channel channel) {
        @Nullable ChannelHandlerContext first = channel.pipeline().firstContext();
        if (first == null) {
            channel.close();
        } else {
            first.close();
        }
    }

    /** Returns what the result of a check may show of {@code thrown}, without what was received. */
    static IOException readable(Throwable thrown) {
        return thrown instanceof IOException known && known.getMessage() != null
                ? known
                : new IOException("unexpected " + thrown.getClass().getSimpleName());
    }

    private synchronized OpenNetwork opened() {
        if (closed) {
            throw new IllegalStateException("the network of the probes is closed");
        }
        OpenNetwork known = opened;
        if (known == null) {
            EventLoopGroup loop = new NioEventLoopGroup(1, THREADS);
            known = new OpenNetwork(loop, new DefaultChannelGroup(loop.next(), true));
            opened = known;
        }
        return known;
    }

    /** Closes every connection and stops the threads; waits for them at most 10 s, unless called by one. Idempotent. */
    @Override
    public void close() {
        @Nullable OpenNetwork last;
        synchronized (this) {
            closed = true;
            last = opened;
            opened = null;
        }
        // those that wait still run, and find that the check or the network has ended
        lookups.close();
        if (last == null) {
            return;
        }
        // Netty 4.2 may end without closing them
        last.connections().forEach(ProbeNetwork::cut);
        EventLoopGroup loop = last.loop();
        loop.shutdownGracefully(0, CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        try {
            if (!loop.next().inEventLoop()) {
                loop.awaitTermination(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
