package dev.podcache.embedded;

import dev.podcache.object.OptionalLibrary;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Serves an {@link InMemoryCluster} over HTTP, on the loopback address, by default without authentication;
 * {@link Builder#rbac} adds users, Roles and reviews. A request for the host of another machine is answered 403: a web site
 * cannot have a browser of this machine read the cluster. It supports HTTP/1.1 and HTTP/2 (h2c, by prior knowledge or
 * upgrade), sends objects and lists as JSON and watches as streams with one JSON
 * object per line, and implements as much of discovery as kubectl needs. Thread-safe.
 *
 * <p>Not supported: WebSockets (a watch request with an upgrade to WebSocket gets an ordinary response, after which
 * clients request a stream), dry runs, server-side apply, YAML, responses in protobuf, strategic merge patches of the
 * rarer kinds of Kubernetes (such as {@code CSINode}), and deletions with the propagationPolicy {@code Foreground} or
 * {@code Orphan}: there is no garbage collector, and dependents stay. Tokens of ServiceAccounts can be requested, and
 * are not signed.
 */
public final class EmbeddedApiServer implements AutoCloseable {

    static final String LOOPBACK = "127.0.0.1";

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
    private final @Nullable RbacAuthorizer authorizer;
    private final Runnable stopFollowing;
    private final AtomicInteger connections = new AtomicInteger();

    private EmbeddedApiServer(Builder options) {
        cluster = options.cluster;
        authorizer = options.rbac ? new RbacAuthorizer(cluster.timekeeper()) : null;
        if (authorizer != null) {
            FirstRoles.create(cluster);
        }
        stopFollowing = authorizer == null ? () -> {} : cluster.followAccess(authorizer::changed);
        vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(EVENT_LOOPS)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setUseDaemonThread(true)
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));
        dispatcher =
                new RequestDispatcher(vertx, cluster, options.version, new AccessControl(authorizer, cluster::now));
        server = vertx.createHttpServer(new HttpServerOptions()
                        .setHost(LOOPBACK)
                        .setPort(options.port)
                        .setMaxInitialLineLength(MAX_URL_BYTES)
                        .setInitialSettings(new Http2Settings().setMaxConcurrentStreams(options.concurrentStreams)))
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
     * @throws IllegalStateException if the server cannot listen, or if Vert.x is not on the class path
     */
    public static EmbeddedApiServer start(InMemoryCluster cluster) {
        return builder(cluster).start();
    }

    /**
     * Starts a server for {@code cluster}. Closing the server does not close the cluster.
     *
     * @param port the port to listen on; 0 for a free one
     * @param concurrentStreams the number of concurrent streams that an HTTP/2 connection allows; at least 1
     * @throws IllegalStateException if the server cannot listen on the port, or if Vert.x is not on the class path
     */
    public static EmbeddedApiServer start(InMemoryCluster cluster, int port, int concurrentStreams) {
        return builder(cluster).port(port).concurrentStreams(concurrentStreams).start();
    }

    /**
     * Starts a server for {@code cluster} that reports another version than {@code v1.20.2}; see {@link Builder#version}.
     *
     * @param port the port to listen on; 0 for a free one
     * @param concurrentStreams the number of concurrent streams that an HTTP/2 connection allows; at least 1
     * @param version the version that {@code GET /version} returns, such as {@code v1.36.0}
     * @throws IllegalArgumentException if {@code version} does not begin with {@code v}, a number, a dot and a number
     * @throws IllegalStateException if the server cannot listen on the port, or if Vert.x is not on the class path
     */
    public static EmbeddedApiServer start(InMemoryCluster cluster, int port, int concurrentStreams, String version) {
        return builder(cluster)
                .port(port)
                .concurrentStreams(concurrentStreams)
                .version(version)
                .start();
    }

    /** Returns a builder of a server for {@code cluster}. Closing the server does not close the cluster. */
    public static Builder builder(InMemoryCluster cluster) {
        return new Builder(Objects.requireNonNull(cluster, "cluster"));
    }

    /** Options of a server. Not thread-safe. */
    public static final class Builder {

        private final InMemoryCluster cluster;
        private int port;
        private int concurrentStreams = CONCURRENT_STREAMS;
        private String version = VERSION;
        private boolean rbac;

        private Builder(InMemoryCluster cluster) {
            this.cluster = cluster;
        }

        /** Sets the port to listen on; 0, the default, for a free one. */
        public Builder port(int newPort) {
            port = newPort;
            return this;
        }

        /** Sets the number of concurrent streams that an HTTP/2 connection allows; 100 by default, at least 1. */
        public Builder concurrentStreams(int streams) {
            concurrentStreams = streams;
            return this;
        }

        /**
         * Sets the version that {@code GET /version} returns. The default is {@code v1.20.2}, whose answers the server
         * imitates. Whatever version it reports, it supports streamed lists ({@code sendInitialEvents}), which a real server
         * has by default in 1.32 and from 1.34 on.
         *
         * @throws IllegalArgumentException if {@code newVersion} does not begin with {@code v}, a number, a dot and a number
         */
        public Builder version(String newVersion) {
            if (!newVersion.matches("v\\d+\\.\\d+(\\..*)?")) {
                throw new IllegalArgumentException("not a version of an API server: \"" + newVersion + "\"");
            }
            version = newVersion;
            return this;
        }

        /**
         * Has the server authenticate and authorize: it allows what the Roles, ClusterRoles and bindings in the cluster allow,
         * and answers 403 to all else, in the words of a kube-apiserver. Nobody can grant more than he has. A request says who
         * sends it by the bearer token of {@link EmbeddedApiServer#tokenFor} or by the URL of
         * {@link EmbeddedApiServer#urlFor}; without either, it is from {@code system:anonymous}. The group
         * {@code system:masters} may do everything. Methods of {@link InMemoryCluster} are not restricted. Without this
         * option, everybody may do everything.
         *
         * <p>The ClusterRoles {@code cluster-admin}, {@code system:discovery}, {@code system:basic-user} and
         * {@code system:public-info-viewer} and their bindings are created as in a kube-apiserver. An open watch goes on when
         * its right is revoked, also as there. ClusterRoles are not aggregated.
         */
        public Builder rbac() {
            rbac = true;
            return this;
        }

        /**
         * Starts the server.
         *
         * @throws IllegalStateException if it cannot listen on the port, or if Vert.x is not on the class path
         */
        public EmbeddedApiServer start() {
            OptionalLibrary.VERTX.require();
            EmbeddedApiServer server = new EmbeddedApiServer(this);
            try {
                await(server.server.listen(), "cannot listen on " + LOOPBACK + ":" + port);
                return server;
            } catch (IllegalStateException e) {
                server.close();
                throw e;
            }
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

    /**
     * Returns a bearer token that makes this server take a request for one of this user. Works for every name and group, for
     * ServiceAccounts by their user names such as {@code system:serviceaccount:shop:web}. The group
     * {@code system:authenticated} is added, and the groups of a ServiceAccount. The token is not signed and does not end.
     *
     * @param user such as {@code jane} or {@code system:serviceaccount:shop:web}
     * @param groups such as {@code system:masters}
     */
    public String tokenFor(String user, String... groups) {
        return Caller.token(Objects.requireNonNull(user, "user"), List.of(groups));
    }

    /**
     * Returns the URL with which a client is this user; see {@link #tokenFor}. The token is in its path: a client that reads
     * it in a kubeconfig sends no token over plain HTTP.
     */
    public String urlFor(String user, String... groups) {
        return url() + AccessControl.AS + tokenFor(user, groups);
    }

    /**
     * Returns a kubeconfig, as YAML, with which a client is this user, kubectl and the program of this library included; see
     * {@link #urlFor}. fabric8 reads it with {@code Config.fromKubeconfig(String)}.
     */
    public String kubeconfigFor(String user, String... groups) {
        return """
                apiVersion: v1
                kind: Config
                current-context: embedded
                contexts: [{name: embedded, context: {cluster: embedded, user: embedded}}]
                clusters: [{name: embedded, cluster: {server: "%s"}}]
                users: [{name: embedded, user: {}}]
                """.formatted(urlFor(user, groups));
    }

    /**
     * Has the authorizer decide by Roles, ClusterRoles and bindings as they were {@code lag} ago, as the one of a real server
     * does that learns of changes late. A change that counts already is not taken back when the lag grows. Time is that of the
     * cluster. Several servers of one cluster can lag differently.
     *
     * @param lag zero, which is the default, for none
     * @throws IllegalArgumentException if {@code lag} is negative
     * @throws IllegalStateException if the server was started without {@link Builder#rbac}
     */
    public void authorizerLag(Duration lag) {
        if (authorizer == null) {
            throw new IllegalStateException("this server has no authorizer: start it with builder(cluster).rbac()");
        }
        authorizer.lag(lag);
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
        stopFollowing.run();
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
