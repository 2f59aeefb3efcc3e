package dev.podcache.kubelet.server;

import dev.podcache.apiserver.http.EventLoop;
import dev.podcache.time.Timekeeper;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.SSLOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts connections by HTTP/1.1 on one event loop; by TLS if the options say so. Thread-safe. */
final class HttpListener implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int MOST_CONNECTIONS = 1024;
    private static final int LONGEST_HEADERS = 64 << 10;

    private final Vertx vertx;
    private final Timekeeper timekeeper;
    private final OpenConnections<HttpConnection> connections;
    private final Function<KubeletRequest, CompletableFuture<KubeletResponse>> handler;
    private final Transfers transfers;

    private @Nullable HttpServer server; // guarded by this; null until it listens

    /** Continues a response that is more than a body. The methods must neither block nor throw. */
    interface Transfers {

        /** For a listener whose responses are bodies only. */
        Transfers NONE = new Transfers() {
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
        this.connections = new OpenConnections<>(MOST_CONNECTIONS, timekeeper);
        this.vertx = EventLoop.start();
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
        HttpServer created = vertx.createHttpServer(options.setMaxHeaderSize(LONGEST_HEADERS))
                .connectionHandler(this::opened)
                .exceptionHandler(e -> log.debug("a connection failed: {}", e.getMessage()))
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
        connections.opened(connection, connection::close);
        connection.closeHandler(closed -> connections.closed(connection));
        connection.exceptionHandler(e -> log.debug("a connection failed: {}", e.getMessage()));
    }

    private void handle(HttpServerRequest http) {
        VertxExchange exchange = new VertxExchange(http, vertx.getOrCreateContext(), transfers);
        connections.requestBegan(http.connection());
        exchange.closed().whenComplete((closed, thrown) -> connections.requestEnded(http.connection()));
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
