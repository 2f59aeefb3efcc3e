package dev.podcache.apiserver.http;

import dev.podcache.apiserver.credentials.ConnectionSettings;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import io.vertx.core.Context;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One event loop, and the connections that are opened on it. Thread-safe. */
final class VertxNetwork implements Executor, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(VertxNetwork.class);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
    private static final int STREAM_WINDOW = 1 << 20;
    private static final int CONNECTION_WINDOW = 16 << 20;

    private final Executor starter;
    private volatile CompletableFuture<Context> loop = CompletableFuture.failedFuture(
            new IllegalStateException("the event loop was not started before it was closed")); // written under this
    private boolean closed; // guarded by this

    /**
     * Creates a network without starting its thread.
     *
     * @param starter starts the thread, which takes about 100 ms
     */
    VertxNetwork(Executor starter) {
        this.starter = starter;
    }

    /** Starts the thread, unless it is running or this network is closed. Returns at once. */
    CompletableFuture<?> start() {
        CompletableFuture<Context> known = loop;
        if (!known.isCompletedExceptionally()) {
            return known;
        }
        CompletableFuture<Context> begun = new CompletableFuture<>();
        synchronized (this) {
            if (closed) {
                return CompletableFuture.completedFuture(null);
            }
            if (!loop.isCompletedExceptionally()) {
                return loop;
            }
            loop = begun;
        }
        return begun.completeAsync(() -> EventLoop.start().getOrCreateContext(), starter);
    }

    /**
     * Runs a task on the event loop. Drops it once the loop is closed, which closes the connections too.
     *
     * @throws java.util.concurrent.CompletionException if the loop was never started
     */
    @Override
    public void execute(Runnable task) {
        try {
            loop.join().runOnContext(posted -> task.run());
        } catch (RejectedExecutionException closing) {
            log.debug("a task was dropped, because the event loop and its connections are closed", closing);
        }
    }

    /**
     * Opens a connection. Must be called on the event loop.
     *
     * @throws RejectedExecutionException if this network is closed, because nothing would close the connection
     */
    Wire open(Target target, Wire.Listener listener) {
        VertxWire wire = new VertxWire(target, listener);
        wire.open(client(target, wire));
        return wire;
    }

    private synchronized HttpClient client(Target target, VertxWire wire) {
        if (closed) {
            throw new RejectedExecutionException("the event loop is closed");
        }
        // one client per connection, so that the pool and not Vert.x decides when to open another
        return loop.join()
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
                .setDecompressionSupported(settings.compression());
        if (settings.keys() != null) {
            options.setKeyCertOptions(KeyCertOptions.wrap(settings.keys()));
        }
        if (settings.trusted() != null) {
            options.setTrustOptions(TrustOptions.wrap(settings.trusted()));
        }
        if (!settings.tlsVersions().isEmpty()) {
            options.setEnabledSecureTransportProtocols(settings.tlsVersions());
        }
        ProxyAddress proxy = settings.proxy();
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

    private static ProxyOptions proxyOptions(ProxyAddress proxy, Target target) {
        ProxyOptions options = new ProxyOptions()
                .setHost(target.address().getAddress().getHostAddress())
                .setPort(target.address().getPort())
                .setType(
                        switch (proxy.scheme()) {
                            case "socks4" -> ProxyType.SOCKS4;
                            case "socks", "socks5", "socks5h" -> ProxyType.SOCKS5;
                            default -> ProxyType.HTTP;
                        });
        if (proxy.username() != null && proxy.password() != null) {
            options.setUsername(proxy.username()).setPassword(proxy.password());
        }
        return options;
    }

    /** Closes every connection and stops the thread; waits for it at most 10 s, unless called by it. */
    @Override
    public void close() {
        CompletableFuture<Context> begun;
        synchronized (this) {
            closed = true;
            begun = loop;
        }
        CompletableFuture<?> closing = begun.handle((context, notStarted) -> context)
                .thenCompose(context -> context == null
                        ? CompletableFuture.completedFuture(null)
                        : context.owner().close().toCompletionStage());
        try {
            if (!Context.isOnVertxThread()) {
                closing.get(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            log.warn("the event loop did not end within {} s; its thread ends later", CLOSE_TIMEOUT.toSeconds(), e);
        }
    }
}
