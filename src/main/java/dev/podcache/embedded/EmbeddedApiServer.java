package dev.podcache.embedded;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Serves an {@link InMemoryCluster} over HTTP, on the loopback address and without authentication. It supports HTTP/1.1
 * and HTTP/2 (h2c, by prior knowledge or upgrade), sends objects and lists as JSON and watches as streams with one JSON
 * object per line, and implements as much of discovery as kubectl needs. Thread-safe.
 *
 * <p>Not supported: WebSockets (a watch request with an upgrade to WebSocket gets an ordinary response, after which
 * clients request a stream), dry runs, server-side apply, paging ({@code limit} is ignored), set-based selectors,
 * resources other than those of {@link Resource}, YAML, and responses in protobuf. Tokens of ServiceAccounts can be
 * requested, and are not signed.
 */
public final class EmbeddedApiServer implements AutoCloseable {

    private static final String LOOPBACK = "127.0.0.1";

    private static final String VERSION = "v1.20.2";

    /** The default limit of a kube-apiserver. */
    private static final int CONCURRENT_STREAMS = 100;

    private static final int EVENT_LOOPS = 2;
    private static final int MAX_URL_BYTES = 16 << 10;
    private static final int WAIT_SECONDS = 10;

    private final Vertx vertx;
    private final HttpServer server;
    private final RequestDispatcher dispatcher;
    private final InMemoryCluster cluster;
    private final AtomicInteger connections = new AtomicInteger();

    private EmbeddedApiServer(InMemoryCluster cluster, int port, int concurrentStreams, String version) {
        this.cluster = cluster;
        vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(EVENT_LOOPS)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setUseDaemonThread(true)
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));
        dispatcher = new RequestDispatcher(vertx, cluster, version);
        server = vertx.createHttpServer(new HttpServerOptions()
                        .setHost(LOOPBACK)
                        .setPort(port)
                        .setMaxInitialLineLength(MAX_URL_BYTES)
                        .setInitialSettings(new Http2Settings().setMaxConcurrentStreams(concurrentStreams)))
                .connectionHandler(connection -> {
                    connections.incrementAndGet();
                    connection.closeHandler(closed -> connections.decrementAndGet());
                })
                .requestHandler(dispatcher::handle);
    }

    /**
     * Starts a server for {@code cluster} on a free port. It allows 100 streams per HTTP/2 connection, as a
     * kube-apiserver does.
     *
     * @throws IllegalStateException if the server cannot listen
     */
    public static EmbeddedApiServer start(InMemoryCluster cluster) {
        return start(cluster, 0, CONCURRENT_STREAMS);
    }

    /**
     * Starts a server for {@code cluster}. Closing the server does not close the cluster.
     *
     * @param port the port to listen on; 0 for a free one
     * @param concurrentStreams the number of concurrent streams that an HTTP/2 connection allows; at least 1
     * @throws IllegalStateException if the server cannot listen on the port
     */
    public static EmbeddedApiServer start(InMemoryCluster cluster, int port, int concurrentStreams) {
        return start(cluster, port, concurrentStreams, VERSION);
    }

    /**
     * Starts a server for {@code cluster} that reports another version than {@code v1.20.2}, whose answers it imitates.
     * Whatever version it reports, it supports streamed lists ({@code sendInitialEvents}), which a real server has by
     * default in 1.32 and from 1.34 on.
     *
     * @param port the port to listen on; 0 for a free one
     * @param concurrentStreams the number of concurrent streams that an HTTP/2 connection allows; at least 1
     * @param version the version that {@code GET /version} returns, such as {@code v1.36.0}
     * @throws IllegalArgumentException if {@code version} does not begin with {@code v}, a number, a dot and a number
     * @throws IllegalStateException if the server cannot listen on the port
     */
    public static EmbeddedApiServer start(InMemoryCluster cluster, int port, int concurrentStreams, String version) {
        if (!version.matches("v\\d+\\.\\d+(\\..*)?")) {
            throw new IllegalArgumentException("not a version of an API server: \"" + version + "\"");
        }
        EmbeddedApiServer server = new EmbeddedApiServer(cluster, port, concurrentStreams, version);
        try {
            await(server.server.listen(), "cannot listen on " + LOOPBACK + ":" + port);
            return server;
        } catch (IllegalStateException e) {
            server.close();
            throw e;
        }
    }

    /** Returns the port that the server listens on. */
    public int port() {
        return server.actualPort();
    }

    /** Returns the base URL of the server, such as {@code http://127.0.0.1:34567}. */
    public String url() {
        return "http://" + LOOPBACK + ":" + port();
    }

    /** Returns the cluster that is served. */
    public InMemoryCluster cluster() {
        return cluster;
    }

    /**
     * Returns the faults that are injected into requests for objects. Discovery, health and token requests are not
     * affected.
     */
    public Faults faults() {
        return dispatcher.faults();
    }

    /** Returns the numbers of requests for objects that arrived over HTTP, including failed ones. */
    public RequestCounts requests() {
        return dispatcher.counts();
    }

    /** Returns the number of open watch streams. */
    public int openWatches() {
        return dispatcher.openWatches();
    }

    /** Returns the number of open connections. */
    public int connections() {
        return connections.get();
    }

    /**
     * Closes all connections and waits up to 10 s until all threads of the server have finished. Idempotent.
     *
     * @throws IllegalStateException if closing takes longer, or if the calling thread is interrupted; its interrupt
     *     status is then set
     */
    @Override
    public void close() {
        dispatcher.faults().clear();
        await(vertx.close(), "did not close");
    }

    private static void await(Future<?> future, String failure) {
        try {
            future.toCompletionStage().toCompletableFuture().get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the embedded API server " + failure + ": interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
            throw new IllegalStateException("the embedded API server " + failure + ": " + cause.getMessage(), cause);
        }
    }
}
