package dev.podcache.kubelet.server;

import com.google.common.base.Strings;
import dev.podcache.time.Timekeeper;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.SSLOptions;
import io.vertx.core.net.TrustOptions;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStoreException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections by HTTP/1.1, with TLS 1.2 or newer unless it is without TLS, on one event loop. The only class of this package that uses
 * Vert.x. Thread-safe.
 */
final class HttpsListener implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HttpsListener.class);

    private static final Set<String> PROTOCOLS = Set.of("TLSv1.2", "TLSv1.3");
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int MOST_CONNECTIONS = 1024;
    /** A command is in the URL. */
    private static final int LONGEST_URL = 256 << 10;

    private static final int LONGEST_HEADERS = 64 << 10;
    private static final int LONGEST_MESSAGE = 1 << 20;
    /** No endpoint reads the body of a request. */
    private static final int LONGEST_BODY = 64 << 10;

    private final Vertx vertx;
    private final @Nullable X509TrustManager clients;
    private final Timekeeper timekeeper;
    private final OpenConnections<HttpConnection> connections;
    private final Function<KubeletRequest, CompletableFuture<KubeletResponse>> handler;
    private final Transfers transfers;

    private @Nullable PemKeyCertOptions keys; // guarded by this; of the first certificate
    private @Nullable HttpServer server; // guarded by this; null until it listens

    /** Continues a response that is more than a body. The methods must neither block nor throw. */
    interface Transfers {

        void send(KubeletResponse.Streamed source, ResponseStream client);

        void run(KubeletResponse.Upgrade command, MessageChannel client);
    }

    /**
     * Creates a listener that does not listen yet.
     *
     * @param clients accepts the certificates of clients; null to listen without TLS
     * @param handler answers a request; must neither block nor throw nor fail
     */
    HttpsListener(
            @Nullable X509TrustManager clients,
            Function<KubeletRequest, CompletableFuture<KubeletResponse>> handler,
            Transfers transfers,
            Timekeeper timekeeper) {
        this.clients = clients;
        this.timekeeper = timekeeper;
        this.handler = handler;
        this.transfers = transfers;
        this.connections = new OpenConnections<>(MOST_CONNECTIONS, timekeeper);
        this.vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(1)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setUseDaemonThread(true)
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));
    }

    /**
     * Creates a listener without TLS that does not listen yet. It is for the loopback address.
     *
     * @param handler answers a request with {@link KubeletResponse.Content}; must neither block nor throw nor fail
     */
    static HttpsListener withoutTls(
            Function<KubeletRequest, CompletableFuture<KubeletResponse>> handler, Timekeeper timekeeper) {
        return new HttpsListener(null, handler, new NoTransfers(), timekeeper);
    }

    private HttpServerOptions options() {
        HttpServerOptions options = new HttpServerOptions().setHttp2ClearTextEnabled(false);
        if (clients != null) {
            options.setSsl(true)
                    .setUseAlpn(false)
                    .setClientAuth(ClientAuth.REQUEST)
                    .setKeyCertOptions(Objects.requireNonNull(keys, "keys"))
                    .setTrustOptions(TrustOptions.wrap(clients))
                    .setEnabledSecureTransportProtocols(PROTOCOLS);
        }
        return options.setMaxInitialLineLength(LONGEST_URL)
                .setMaxHeaderSize(LONGEST_HEADERS)
                .setMaxWebSocketFrameSize(LONGEST_MESSAGE)
                .setMaxWebSocketMessageSize(LONGEST_MESSAGE)
                .setPerFrameWebSocketCompressionSupported(false)
                .setPerMessageWebSocketCompressionSupported(false)
                .setWebSocketSubProtocols(ExecEndpoint.SUBPROTOCOLS);
    }

    /** Of a listener whose responses are complete. */
    private static final class NoTransfers implements Transfers {

        @Override
        public void send(KubeletResponse.Streamed source, ResponseStream client) {
            source.release().run();
            client.abort();
        }

        @Override
        public void run(KubeletResponse.Upgrade command, MessageChannel client) {
            command.release().run();
            client.close();
        }
    }

    /**
     * Starts to listen; waits at most 10 s. Call it once; with TLS, after {@link #use}.
     *
     * @param port 0 for any free port
     * @throws IOException if the address cannot be used
     */
    void listen(String host, int port) throws IOException {
        HttpServer created;
        synchronized (this) {
            created = vertx.createHttpServer(options())
                    .connectionHandler(this::opened)
                    .exceptionHandler(e -> log.debug("a connection failed: {}", e.getMessage()))
                    .requestHandler(this::handle);
        }
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
     * Uses a certificate for new connections. Blocks at most 10 s, so it must not be called by the event loop, and not
     * during {@link #listen}.
     *
     * @throws GeneralSecurityException if it cannot be used; the certificate before stays in use
     */
    void use(ServingCertificate certificate) throws GeneralSecurityException {
        PemKeyCertOptions valid = keys(certificate);
        HttpServer listening;
        synchronized (this) {
            listening = server;
            keys = valid;
        }
        if (listening == null) {
            return;
        }
        SSLOptions options = new SSLOptions()
                .setKeyCertOptions(valid)
                .setTrustOptions(TrustOptions.wrap(Objects.requireNonNull(clients, "clients")))
                .setEnabledSecureTransportProtocols(PROTOCOLS);
        @Nullable Throwable failure = await(listening.updateSSLOptions(options, true));
        if (failure != null) {
            throw new GeneralSecurityException(failure);
        }
    }

    private PemKeyCertOptions keys(ServingCertificate certificate) throws GeneralSecurityException {
        PemKeyCertOptions options = new PemKeyCertOptions()
                .addCertValue(Buffer.buffer(certificate.certificates()))
                .addKeyValue(Buffer.buffer(certificate.key()));
        try {
            for (KeyManager manager : options.getKeyManagerFactory(vertx).getKeyManagers()) {
                if (manager instanceof X509KeyManager keys) {
                    requirePair(keys);
                }
            }
            return options;
        } catch (GeneralSecurityException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new KeyStoreException(e);
        }
    }

    private static void requirePair(X509KeyManager keys) throws GeneralSecurityException {
        for (String type : List.of("RSA", "EC", "EdDSA")) {
            @Nullable String @Nullable [] aliases = keys.getServerAliases(type, null);
            if (aliases != null && aliases.length > 0) {
                ServingCertificate.requirePair(
                        keys.getCertificateChain(aliases[0])[0].getPublicKey(), keys.getPrivateKey(aliases[0]));
            }
        }
    }

    private void opened(HttpConnection connection) {
        connections.opened(connection, connection::close);
        connection.closeHandler(closed -> connections.closed(connection));
        connection.exceptionHandler(e -> log.debug("a connection failed: {}", e.getMessage()));
    }

    private void handle(HttpServerRequest http) {
        Exchanged exchange = new Exchanged(http, vertx.getOrCreateContext());
        connections.requestBegan(http.connection());
        exchange.closed.whenComplete((closed, thrown) -> connections.requestEnded(http.connection()));
        KubeletRequest request;
        try {
            request = exchange.begin();
        } catch (RuntimeException e) {
            exchange.answer(KubeletResponse.text(400, "the request cannot be read"));
            return;
        }
        handler.apply(request).thenAccept(response -> exchange.onLoop(() -> exchange.answer(response)));
    }

    /** A request and its response. Its fields are used by the event loop only, except those that are thread-safe. */
    private final class Exchanged implements ResponseStream {

        private final HttpServerRequest http;
        private final HttpServerResponse response;
        private final Context eventLoop;
        private final CompletableFuture<Object> closed = new CompletableFuture<>();
        private boolean webSocket;
        private boolean upgraded;
        private boolean ended;
        private long received;

        Exchanged(HttpServerRequest http, Context eventLoop) {
            this.http = http;
            this.response = http.response();
            this.eventLoop = eventLoop;
        }

        /** Prepares the exchange, and returns the request. */
        KubeletRequest begin() {
            response.closeHandler(gone -> finishResponse());
            response.endHandler(sent -> finishResponse());
            response.exceptionHandler(failed -> finishResponse());
            http.exceptionHandler(failed -> finishResponse());
            @Nullable String upgrade = http.getHeader("Upgrade");
            webSocket = "websocket".equalsIgnoreCase(upgrade);
            if (webSocket) {
                http.pause();
            } else {
                http.handler(this::received);
            }
            return new KubeletRequest(
                    http.method().name(),
                    http.path() == null ? "/" : http.path(),
                    query(),
                    http.getHeader("Authorization"),
                    Strings.nullToEmpty(http.getHeader("Host")),
                    certificates(),
                    upgrade == null ? "" : upgrade.toLowerCase(Locale.ROOT),
                    subprotocols());
        }

        private void received(Buffer part) {
            received += part.length();
            if (received > LONGEST_BODY) {
                http.connection().close();
            }
        }

        private Map<String, List<String>> query() {
            Map<String, List<String>> query = new LinkedHashMap<>();
            http.params()
                    .forEach(parameter -> query.computeIfAbsent(parameter.getKey(), key -> new ArrayList<>())
                            .add(parameter.getValue()));
            return query;
        }

        private List<X509Certificate> certificates() {
            if (!http.isSSL()) {
                return List.of();
            }
            try {
                return http.connection().peerCertificates().stream()
                        .filter(X509Certificate.class::isInstance)
                        .map(X509Certificate.class::cast)
                        .toList();
            } catch (SSLPeerUnverifiedException none) {
                return List.of();
            }
        }

        private List<String> subprotocols() {
            List<String> names = new ArrayList<>();
            for (String header : http.headers().getAll("Sec-WebSocket-Protocol")) {
                for (String name : header.split(",", -1)) {
                    names.add(name.strip());
                }
            }
            return names;
        }

        /** Sends a response. Releases what it holds if the client has gone. */
        void answer(KubeletResponse answer) {
            if (answer instanceof KubeletResponse.Content content) {
                send(content);
            } else if (answer instanceof KubeletResponse.Streamed source) {
                if (!closed.isDone()) {
                    response.setStatusCode(200)
                            .putHeader("Content-Type", "text/plain")
                            .setChunked(true);
                    // the first line may come much later
                    response.writeHead();
                }
                transfers.send(source, this);
            } else if (answer instanceof KubeletResponse.Upgrade command) {
                upgrade(command);
            }
        }

        private void send(KubeletResponse.Content content) {
            if (closed.isDone()) {
                return;
            }
            if (webSocket) {
                http.resume();
            }
            content.headers().forEach(response::putHeader);
            response.setStatusCode(content.code())
                    .putHeader("Content-Type", content.mediaType())
                    .putHeader("X-Content-Type-Options", "nosniff")
                    .end(Buffer.buffer(content.body()));
        }

        private void upgrade(KubeletResponse.Upgrade command) {
            if (closed.isDone()) {
                command.release().run();
                return;
            }
            upgraded = true;
            http.toWebSocket()
                    .onSuccess(socket -> transfers.run(command, new Socket(socket, eventLoop, this::finish)))
                    .onFailure(e -> {
                        log.debug("the handshake of a WebSocket failed: {}", e.getMessage());
                        command.release().run();
                        finish();
                    });
        }

        /** After the upgrade, the WebSocket says when it is closed. */
        private void finishResponse() {
            if (!upgraded) {
                finish();
            }
        }

        private void finish() {
            closed.complete(this);
        }

        @Override
        public CompletableFuture<?> write(byte[] bytes) {
            CompletableFuture<Object> written = new CompletableFuture<>();
            onLoop(() -> {
                if (closed.isDone()) {
                    written.completeExceptionally(new IOException("the client has closed the connection"));
                    return;
                }
                response.write(Buffer.buffer(bytes)).onComplete(done -> {
                    if (done.succeeded()) {
                        written.complete(this);
                    } else {
                        written.completeExceptionally(done.cause());
                    }
                });
            });
            return written;
        }

        @Override
        public void end() {
            onLoop(() -> {
                if (!ended && !closed.isDone()) {
                    ended = true;
                    response.end();
                }
            });
        }

        @Override
        public void abort() {
            onLoop(() -> {
                if (!ended) {
                    ended = true;
                    http.connection().close();
                }
            });
        }

        @Override
        public CompletableFuture<?> closed() {
            return closed;
        }

        /** Runs a task on the event loop; a task that throws ends the connection. */
        void onLoop(Runnable task) {
            eventLoop.runOnContext(nothing -> {
                try {
                    task.run();
                } catch (RuntimeException | Error e) {
                    log.error("a response failed; closing the connection", e);
                    http.connection().close();
                }
            });
        }
    }

    /** A WebSocket. Its methods may be called by any thread. */
    private static final class Socket implements MessageChannel {

        private final ServerWebSocket socket;
        private final Context eventLoop;
        private final CompletableFuture<Object> closed = new CompletableFuture<>();

        Socket(ServerWebSocket socket, Context eventLoop, Runnable onClose) {
            this.socket = socket;
            this.eventLoop = eventLoop;
            socket.pause();
            socket.exceptionHandler(e -> log.debug("a WebSocket failed: {}", e.getMessage()));
            socket.closeHandler(gone -> {
                onClose.run();
                closed.complete(this);
            });
        }

        @Override
        public CompletableFuture<?> send(byte[] message) {
            CompletableFuture<Object> sent = new CompletableFuture<>();
            eventLoop.runOnContext(nothing -> {
                if (closed.isDone() || socket.isClosed()) {
                    sent.completeExceptionally(new IOException("the client has closed the WebSocket"));
                    return;
                }
                socket.writeBinaryMessage(Buffer.buffer(message)).onComplete(done -> sent.complete(this));
            });
            return sent;
        }

        @Override
        public void receive(Function<byte[], CompletableFuture<?>> receiver) {
            eventLoop.runOnContext(nothing -> {
                socket.binaryMessageHandler(message -> {
                    socket.pause();
                    receiver.apply(message.getBytes())
                            .whenComplete((done, thrown) -> eventLoop.runOnContext(next -> socket.resume()));
                });
                socket.resume();
            });
        }

        @Override
        public void close() {
            eventLoop.runOnContext(nothing -> {
                if (!socket.isClosed()) {
                    socket.close();
                }
            });
        }

        @Override
        public CompletableFuture<?> closed() {
            return closed;
        }
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
