package dev.podcache.apiserver.http;

import com.google.common.collect.ImmutableList;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.ProxyOptions;
import io.vertx.core.net.ProxyType;
import io.vertx.core.net.TrustOptions;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A fixed number of event loops, and the connections that are opened on them. This class, {@link EventLoops}, {@link
 * VertxWire} and {@link VertxHttp2Call} are the only ones of the package that use Vert.x. Thread-safe.
 */
final class VertxNetwork implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(VertxNetwork.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
    private static final int STREAM_WINDOW = 1 << 20;
    private static final int CONNECTION_WINDOW = 16 << 20;

    private final int count;
    private final Executor starter;
    private final AtomicInteger nextIndex = new AtomicInteger();
    private volatile CompletableFuture<ImmutableList<Loop>> loops =
            CompletableFuture.failedFuture(new IllegalStateException("not started")); // written under this
    private boolean closed; // guarded by this

    /**
     * Creates a network without starting its threads.
     *
     * @param count the number of threads
     * @param starter starts the threads, which takes about 100 ms
     */
    VertxNetwork(int count, Executor starter) {
        this.count = count;
        this.starter = starter;
    }

    /** Starts the threads, unless they are running or this network is closed. Returns at once. */
    CompletableFuture<?> start() {
        CompletableFuture<ImmutableList<Loop>> known = loops;
        if (!known.isCompletedExceptionally()) {
            return known;
        }
        CompletableFuture<ImmutableList<Loop>> begun = new CompletableFuture<>();
        synchronized (this) {
            if (closed) {
                return CompletableFuture.completedFuture(null);
            }
            if (!loops.isCompletedExceptionally()) {
                return loops;
            }
            loops = begun;
        }
        return begun.completeAsync(() -> startLoops(count), starter);
    }

    private static ImmutableList<Loop> startLoops(int count) {
        Vertx vertx = EventLoops.start(count);
        // verticles find the loops, because Vert.x gives one and the same loop to a thread that is not its own
        Queue<Loop> contexts = new ConcurrentLinkedQueue<>();
        try {
            vertx.deployVerticle(() -> new LoopFinder(contexts), new DeploymentOptions().setInstances(count))
                    .toCompletionStage()
                    .toCompletableFuture()
                    .join();
        } catch (RuntimeException | Error e) {
            vertx.close();
            throw e;
        }
        return ImmutableList.copyOf(contexts);
    }

    /** Runs tasks on one event loop. Drops them once the loop is closed, which closes its connections too. */
    record Loop(Context context) implements Executor {

        @Override
        public void execute(Runnable task) {
            try {
                context.runOnContext(posted -> task.run());
            } catch (RejectedExecutionException closing) {
                log.debug("a task was dropped, because the event loop and its connections are closed", closing);
            }
        }
    }

    private static final class LoopFinder extends AbstractVerticle {

        private final Queue<Loop> found;

        LoopFinder(Queue<Loop> found) {
            this.found = found;
        }

        @Override
        public void start(Promise<Void> started) {
            found.add(new Loop(context));
            started.complete();
        }
    }

    /** Returns the event loop for the next connection. Must be called after {@link #start} has completed. */
    Loop nextLoop() {
        List<Loop> started = loops.join();
        return started.get(Math.floorMod(nextIndex.getAndIncrement(), started.size()));
    }

    /**
     * Opens a connection. Must be called on {@code loop}.
     *
     * @throws RejectedExecutionException if this network is closed, because nothing would close the connection
     */
    Wire open(Target target, Loop loop, Wire.Listener listener) {
        VertxWire wire = new VertxWire(target, listener);
        wire.open(client(target, loop, wire));
        return wire;
    }

    private synchronized HttpClient client(Target target, Loop loop, VertxWire wire) {
        if (closed) {
            throw new RejectedExecutionException("the event loops are closed");
        }
        // one client per connection, so that the pool and not Vert.x decides when to open another
        return loop.context
                .owner()
                .httpClientBuilder()
                .with(options(target))
                .with(new PoolOptions().setHttp1MaxSize(1).setHttp2MaxSize(1).setCleanerPeriod(0))
                .withConnectHandler(wire::connected)
                .build();
    }

    /**
     * Returns the client options for {@code target}. HTTP/2 is used by ALPN or, without TLS, with prior knowledge.
     * Vert.x would close an HTTP/2 connection after some time even if it is in use, so that timeout is off. The windows
     * are large, so that one large event does not block other streams; they need no memory, because data is passed on
     * at once.
     */
    private static HttpClientOptions options(Target target) {
        ConnectionSettings settings = target.settings();
        int timeout = (int) Math.min(Integer.MAX_VALUE, target.timeout().toMillis());
        HttpClientOptions options = new HttpClientOptions()
                .setConnectTimeout(timeout)
                .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS)
                .setSslHandshakeTimeout(timeout)
                .setVerifyHost(settings.verifiesHost())
                .setForceSni(settings.tlsServerName() != null)
                .setDecompressionSupported(true);
        if (settings.keys() != null) {
            options.setKeyCertOptions(KeyCertOptions.wrap(settings.keys()));
        }
        if (settings.trusted() != null) {
            options.setTrustOptions(TrustOptions.wrap(settings.trusted()));
        }
        if (!settings.tlsVersions().isEmpty()) {
            options.setEnabledSecureTransportProtocols(settings.tlsVersions());
        }
        ConnectionSettings.Proxy proxy = settings.proxy();
        if (proxy != null) {
            options.setProxyOptions(proxyOptions(proxy, target));
        }
        return target.multiplexed()
                ? options.setProtocolVersion(HttpVersion.HTTP_2)
                        .setUseAlpn(true)
                        .setHttp2ClearTextUpgrade(false)
                        .setHttp2KeepAliveTimeout(0)
                        .setHttp2ConnectionWindowSize(CONNECTION_WINDOW)
                        .setInitialSettings(
                                new Http2Settings().setPushEnabled(false).setInitialWindowSize(STREAM_WINDOW))
                : options.setProtocolVersion(HttpVersion.HTTP_1_1);
    }

    private static ProxyOptions proxyOptions(ConnectionSettings.Proxy proxy, Target target) {
        ProxyOptions options = new ProxyOptions()
                .setHost(target.address().getAddress().getHostAddress())
                .setPort(target.address().getPort())
                .setType(
                        switch (proxy.type()) {
                            case SOCKS4 -> ProxyType.SOCKS4;
                            case SOCKS5 -> ProxyType.SOCKS5;
                            case HTTP, DIRECT -> ProxyType.HTTP;
                        });
        if (proxy.username() != null && proxy.password() != null) {
            options.setUsername(proxy.username()).setPassword(proxy.password());
        }
        return options;
    }

    /** Closes every connection and stops the threads; waits for them at most 10 s, unless called by one of them. */
    @Override
    public void close() {
        CompletableFuture<ImmutableList<Loop>> begun;
        synchronized (this) {
            closed = true;
            begun = loops;
        }
        boolean ourOwnThread = Context.isOnVertxThread();
        CompletableFuture<?> closing = begun.exceptionally(notStarted -> ImmutableList.of())
                .thenCompose(started -> started.isEmpty()
                        ? CompletableFuture.completedFuture(null)
                        : started.get(0).context.owner().close().toCompletionStage());
        try {
            if (!ourOwnThread) {
                closing.get(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            log.warn("the event loops did not end within {} s; their threads end later", CLOSE_TIMEOUT.toSeconds(), e);
        }
    }
}
