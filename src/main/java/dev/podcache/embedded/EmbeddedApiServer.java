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
 * The HTTP face of an {@link InMemoryCluster}, on loopback only and without authentication: HTTP/1.1 and HTTP/2 (h2c,
 * by prior knowledge or upgrade), objects and lists as JSON, watches as streams of one JSON object a line, enough
 * discovery for kubectl. Thread-safe.
 *
 * <p>What is not there: WebSockets (who asks for one is answered plainly and may ask for a stream), dry
 * runs, server-side apply, paging ({@code limit} is ignored), set-based selectors, other resources,
 * YAML, and answers in protobuf.
 */
public final class EmbeddedApiServer implements AutoCloseable {

    private static final String LOOPBACK = "127.0.0.1";

    /** What a kube-apiserver allows. */
    private static final int CONCURRENT_STREAMS = 100;

    private static final int EVENT_LOOPS = 2;
    private static final int LONGEST_URL = 16 << 10;
    private static final int WAIT_SECONDS = 10;

    private final Vertx vertx;
    private final HttpServer server;
    private final HttpFace face;
    private final InMemoryCluster cluster;
    private final AtomicInteger connections = new AtomicInteger();

    private EmbeddedApiServer(InMemoryCluster cluster, int port, int concurrentStreams) {
        this.cluster = cluster;
        vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(EVENT_LOOPS)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setUseDaemonThread(true)
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));
        face = new HttpFace(vertx, cluster);
        server = vertx.createHttpServer(new HttpServerOptions()
                        .setHost(LOOPBACK)
                        .setPort(port)
                        .setMaxInitialLineLength(LONGEST_URL)
                        .setInitialSettings(new Http2Settings().setMaxConcurrentStreams(concurrentStreams)))
                .connectionHandler(connection -> {
                    connections.incrementAndGet();
                    connection.closeHandler(closed -> connections.decrementAndGet());
                })
                .requestHandler(face::handle);
    }

    /** Serves {@code cluster} on a free port, with the 100 streams a connection that servers allow. */
    public static EmbeddedApiServer start(InMemoryCluster cluster) {
        return start(cluster, 0, CONCURRENT_STREAMS);
    }

    /**
     * Serves {@code cluster}, which stays open when the server closes.
     *
     * @param port 0 for a free one
     * @param concurrentStreams how many streams an HTTP/2 connection may have at once; at least 1
     * @throws IllegalStateException if the port cannot be listened on
     */
    public static EmbeddedApiServer start(InMemoryCluster cluster, int port, int concurrentStreams) {
        EmbeddedApiServer server = new EmbeddedApiServer(cluster, port, concurrentStreams);
        try {
            await(server.server.listen(), "cannot listen on " + LOOPBACK + ":" + port);
            return server;
        } catch (IllegalStateException e) {
            server.close();
            throw e;
        }
    }

    public int port() {
        return server.actualPort();
    }

    /** Where clients find it, such as {@code http://127.0.0.1:34567}. */
    public String url() {
        return "http://" + LOOPBACK + ":" + port();
    }

    /** What is served. */
    public InMemoryCluster cluster() {
        return cluster;
    }

    /** What goes wrong, in requests for objects; discovery and health stay well. */
    public Faults faults() {
        return face.faults();
    }

    /** What came over HTTP so far, whatever became of it. */
    public RequestCounts requests() {
        return face.counts();
    }

    /** How many watch streams are open. */
    public int openWatches() {
        return face.openWatches();
    }

    /** How many connections are open. */
    public int connections() {
        return connections.get();
    }

    /**
     * Closes all connections and waits, 10 s at most, until the last thread has done its last task. Idempotent.
     *
     * @throws IllegalStateException if that took longer, or the thread was interrupted, which it then still is
     */
    @Override
    public void close() {
        face.faults().clear();
        await(vertx.close(), "did not close");
    }

    private static void await(Future<?> future, String complaint) {
        try {
            future.toCompletionStage().toCompletableFuture().get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the embedded API server " + complaint + ": interrupted", e);
        } catch (ExecutionException | TimeoutException e) {
            Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
            throw new IllegalStateException("the embedded API server " + complaint + ": " + cause.getMessage(), cause);
        }
    }
}
