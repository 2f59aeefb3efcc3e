package dev.podcache.kubelet.server;

import dev.podcache.apiserver.http.EventLoop;
import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SSLOptions;
import io.vertx.core.net.impl.ConnectionBase;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSessionContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts connections by HTTP/1.1 on one event loop; by TLS if the options say so. Thread-safe. */
final class HttpListener implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Each needs some 40 KiB with TLS. */
    private static final int MOST_CONNECTIONS =
            (int) Math.min(1024, Runtime.getRuntime().maxMemory() / (48 << 10));

    private static final int MOST_SESSIONS = 256;
    private final Vertx vertx;
    private final Timekeeper timekeeper;
    private final OpenConnections connections;
    private final Function<KubeletRequest, CompletableFuture<KubeletResponse>> handler;
    private final Transfers transfers;

    private volatile int longestLine = HttpServerOptions.DEFAULT_MAX_INITIAL_LINE_LENGTH; // set before it listens
    private @Nullable HttpServer server; // guarded by this; null until it listens

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
        this.vertx = EventLoop.start(accepted ->
                accepted.pipeline().addFirst("guard", new ConnectionGuard(accepted, connections, HeldBytes.RECEIVED)));
    }

    Vertx vertx() {
        return vertx;
    }

    /** Starts to listen without TLS; otherwise like {@link #listen(HttpServerOptions, String, int)}. */
    void listen(String host, int port) throws IOException {
        listen(new HttpServerOptions().setHttp2ClearTextEnabled(false), host, port);
    }

    /**
     * Starts to listen; waits at most 10 s. Call it once.
     *
     * @param port 0 for any free port
     * @throws IOException if the address cannot be used
     */
    void listen(HttpServerOptions options, String host, int port) throws IOException {
        longestLine = options.getMaxInitialLineLength();
        HttpServer created = vertx.createHttpServer(options.setMaxHeaderSize(ConnectionGate.LONGEST_HEADERS + 1))
                .connectionHandler(this::opened)
                .exceptionHandler(HttpListener::failed)
                .requestHandler(this::handle);
        @Nullable Throwable failure = await(created.listen(port, host));
        if (failure != null) {
            throw new IOException(String.valueOf(failure.getMessage()), failure);
        }
        synchronized (this) {
            server = created;
        }
    }

    /** Returns the port that is listened on; 0 if there is none. */
    synchronized int port() {
        return server == null ? 0 : server.actualPort();
    }

    /**
     * Uses other TLS options for new connections; waits at most 10 s. Returns the failure; null if it succeeded, or if
     * nothing listens yet.
     */
    @Nullable
    Throwable update(SSLOptions options) {
        HttpServer listening;
        synchronized (this) {
            listening = server;
        }
        return listening == null ? null : await(listening.updateSSLOptions(options, true));
    }

    private void opened(HttpConnection connection) {
        connection.exceptionHandler(HttpListener::failed);
        Channel channel = channelOf(connection);
        ConnectionGuard guard = channel.pipeline().get(ConnectionGuard.class);
        guard.established();
        if (guard.connection().isEmpty()) {
            return; // it is being closed
        }
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls != null) {
            refuseFurtherHandshakes(tls.engine());
        }
        ConnectionGate.install(
                channel,
                guard.connection().get(),
                guard,
                new ConnectionGate.GateParts(timekeeper, HeldBytes.RECEIVED, HeldBytes.UNSENT, longestLine));
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

    static Channel channelOf(HttpConnection connection) {
        return ((ConnectionBase) connection).channel();
    }

    /** The message of an exception may quote what a client sent, such as its token. */
    private static void failed(Throwable failure) {
        boolean ofNetwork = failure instanceof IOException && !(failure.getCause() instanceof RuntimeException);
        log.debug("a connection failed: {}", ofNetwork ? Quoted.text(failure.toString()) : failure.getClass());
    }

    private void handle(HttpServerRequest http) {
        VertxExchange exchange = new VertxExchange(http, vertx.getOrCreateContext(), transfers);
        KubeletRequest request;
        try {
            request = exchange.begin();
        } catch (RuntimeException e) {
            exchange.answer(KubeletResponse.text(400, "the request cannot be read"));
            return;
        }
        handler.apply(request).thenAccept(response -> exchange.onLoop(() -> exchange.answer(response)));
    }

    /** Returns the failure of a future, or null; waits at most 10 s. */
    private @Nullable Throwable await(Future<?> future) {
        try {
            if (timekeeper.await(future.toCompletionStage().toCompletableFuture(), TIMEOUT)) {
                return future.cause();
            }
            return new IOException("no answer within " + TIMEOUT.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return e;
        }
    }

    /** Closes all connections and ends the thread; waits at most 10 s. Idempotent. */
    @Override
    public void close() {
        await(vertx.close());
    }
}
