package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.TokenRequests;
import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.apiserver.http.ClientInterceptors;
import dev.podcache.apiserver.http.ConnectionFacts;
import dev.podcache.apiserver.http.SerialRequests;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.FailureReason;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import dev.podcache.time.TokenBucket;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import java.util.function.Predicate;

/**
 * The API server that a fabric8 client is configured for. Creates the ports of {@code dev.podcache.apiserver}. Create
 * one per process, because each instance has its own client-side limit and its own connections. Thread-safe.
 *
 * <p>Addresses, TLS, proxies and credentials come from the client's {@link Config}, and are read again when they
 * change. Requests do not use the client's HTTP connections, so a custom {@code HttpClient.Factory} does not apply to them.
 * Of an interceptor of the client, {@code before} runs before each request, on a thread of this library, and may set headers;
 * its other methods do not run. {@code podcache/VERSION} is appended to the client's user agent. Watches, requests and
 * heartbeats each have their own connections.
 */
public final class Fabric8ApiServer implements AutoCloseable {

    private final KubernetesSerialization serialization;
    private final Timekeeper timekeeper;
    private final ApiConnections connections;
    private final TokenBucket requests;
    private final TokenBucket reviews;
    private final TokenBucket unlimited;
    private final StreamedLists streamedLists;

    Fabric8ApiServer(KubernetesClient client, RequestLimit limit, Timekeeper timekeeper) {
        this(client, limit, timekeeper, (request, status) -> {});
    }

    /**
     * Creates a server whose requests a test observes.
     *
     * @param observer called as {@link ApiConnections} describes
     */
    Fabric8ApiServer(
            KubernetesClient client,
            RequestLimit limit,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer) {
        this(
                new ApiConnections(
                        urlOf(client.getConfiguration()),
                        client.getConfiguration(),
                        requestConfig(client),
                        ClientInterceptors.of(client.getHttpClient()),
                        timekeeper,
                        observer),
                client.getKubernetesSerialization(),
                limit,
                timekeeper);
    }

    private Fabric8ApiServer(
            ApiConnections connections,
            KubernetesSerialization serialization,
            RequestLimit limit,
            Timekeeper timekeeper) {
        this.connections = connections;
        this.serialization = serialization;
        this.timekeeper = timekeeper;
        this.requests = new TokenBucket(limit.perSecond(), limit.burst(), timekeeper);
        // the clients of a server cause reviews, and must not use up the limit of its own requests
        this.reviews = new TokenBucket(limit.perSecond(), limit.burst(), timekeeper);
        RequestLimit none = RequestLimit.UNLIMITED;
        this.unlimited = new TokenBucket(none.perSecond(), none.burst(), timekeeper);
        this.streamedLists = new StreamedLists(connections.session());
    }

    /** Returns the server of {@code client}, with the {@linkplain RequestLimit#DEFAULT default limit}. */
    public static Fabric8ApiServer of(KubernetesClient client) {
        return of(client, RequestLimit.DEFAULT);
    }

    /**
     * Returns the server of {@code client}.
     *
     * @param client provides the server URL and the credentials; not closed by {@link #close}
     */
    public static Fabric8ApiServer of(KubernetesClient client, RequestLimit limit) {
        Objects.requireNonNull(client, "client");
        Objects.requireNonNull(limit, "limit");
        return new Fabric8ApiServer(client, limit, Timekeeper.system());
    }

    /**
     * Returns the server that {@code config} names. A program that needs no fabric8 client saves its connections, its
     * threads and its time to start.
     */
    public static Fabric8ApiServer of(Config config, RequestLimit limit) {
        Objects.requireNonNull(config, "config");
        Objects.requireNonNull(limit, "limit");
        Timekeeper timekeeper = Timekeeper.system();
        return new Fabric8ApiServer(
                new ApiConnections(
                        urlOf(config), config, config.getRequestConfig(), timekeeper, (request, status) -> {}),
                serialization(),
                limit,
                timekeeper);
    }

    /** Returns the serialization of a server that has no client. */
    static KubernetesSerialization serialization() {
        return LazyModelDeserializers.serialization();
    }

    /**
     * Returns a getter of objects of one kind.
     *
     * @hidden
     */
    @NotApi
    public <T extends HasMetadata> ObjectGetter<T> getter(ObjectKind<T> kind) {
        Fabric8ObjectDecoder<T> decoder = decoder(kind);
        return (key, source, timeout) -> {
            String query = source == ReadSource.CACHE ? "?resourceVersion=0" : "";
            ServerRequest get = ServerRequest.get("GET " + kind + " " + key, kind.path(key) + query);
            return send(get, timeout, body -> decoder.decodeNamed(key, body));
        };
    }

    /**
     * Returns a lister and watcher of objects of one kind.
     *
     * @param namespace empty for all namespaces, or for a cluster-scoped kind
     * @param fieldSelector such as {@code spec.nodeName=worker-1}; empty for all objects
     * @hidden
     */
    @NotApi
    public <T extends HasMetadata> ListerWatcher<T> listerWatcher(
            ObjectKind<T> kind, String namespace, String fieldSelector) {
        return listerWatcher(Fabric8ListerWatcher.ObjectSelection.of(kind, namespace, fieldSelector), decoder(kind));
    }

    private <T extends HasMetadata> ListerWatcher<T> listerWatcher(
            Fabric8ListerWatcher.ObjectSelection selection, ObjectDecoder<T> decoder) {
        return new Fabric8ListerWatcher<>(selection, connections.session(), decoder, streamedLists, false);
    }

    /**
     * Returns a function that makes a lister-watcher of one object of a kind, selected by its name.
     *
     * @hidden
     */
    @NotApi
    public <T extends HasMetadata> Function<ObjectKey, ListerWatcher<T>> byName(ObjectKind<T> kind) {
        ObjectDecoder<T> shared = decoder(kind);
        return key ->
                listerWatcher(Fabric8ListerWatcher.ObjectSelection.byName(kind, key.namespace(), key.name()), shared);
    }

    /**
     * Returns a lister-watcher of the objects of one name in all namespaces. Each list is a quorum read.
     *
     * @hidden
     */
    @NotApi
    public <T extends HasMetadata> ListerWatcher<T> named(ObjectKind<T> kind, String name) {
        return new Fabric8ListerWatcher<>(
                Fabric8ListerWatcher.ObjectSelection.byName(kind, "", name),
                connections.session(),
                decoder(kind),
                streamedLists,
                true);
    }

    /**
     * Returns a function that makes a lister-watcher of those objects of one namespace whose names a predicate accepts
     * at the time they are received. Other objects are received, but not decoded. Each list is a quorum read.
     *
     * @hidden
     */
    @NotApi
    public <T extends HasMetadata> BiFunction<String, Predicate<String>, ListerWatcher<T>> inNamespace(
            ObjectKind<T> kind) {
        return (namespace, names) -> new Fabric8ListerWatcher<>(
                Fabric8ListerWatcher.ObjectSelection.of(kind, namespace, ""),
                connections.session(),
                decoder(kind).filtered(names),
                streamedLists,
                true);
    }

    /**
     * Returns the port to read and write objects of one kind.
     *
     * @param timeout the time for each call, including the wait for the limit; positive
     * @hidden
     */
    @NotApi
    public <T extends HasMetadata> ObjectApi<T> api(ObjectKind<T> kind, Duration timeout) {
        return new Fabric8ObjectApi<>(kind, serialization, (request, decode) -> send(request, timeout, decode));
    }

    /**
     * Returns the port to request tokens of ServiceAccounts.
     *
     * @param timeout the time for each call, including the wait for the limit; positive
     * @hidden
     */
    @NotApi
    public TokenRequests tokenRequests(Duration timeout) {
        return new Fabric8TokenRequests(serialization, this, timeout);
    }

    /**
     * Returns the port to review tokens and accesses, those of others and our own. Reviews have a client-side limit of their own, as large as the
     * limit of other requests.
     *
     * @param timeout the time for each call, including the wait for the limit; positive
     * @hidden
     */
    @NotApi
    public AccessReviews accessReviews(Duration timeout) {
        return new Fabric8AccessReviews(serialization, new Reviewing(reviews), timeout);
    }

    /**
     * Returns the port to review accesses without a client-side limit, for a caller that bounds how many are in flight.
     *
     * @param timeout the time for each call; positive
     * @hidden
     */
    @NotApi
    public AccessReviews unlimitedReviews(Duration timeout) {
        return new Fabric8AccessReviews(serialization, new Reviewing(unlimited), timeout);
    }

    /** Sends reviews, which count against a limit of their own. */
    private final class Reviewing implements Fabric8AccessReviews.ReviewSender {

        private final TokenBucket limit;

        Reviewing(TokenBucket limit) {
            this.limit = limit;
        }

        @Override
        public <R> CompletableFuture<R> send(ServerRequest request, Duration timeout, Function<byte[], R> decode) {
            return Fabric8ApiServer.this.send(limit, request, timeout, decode);
        }
    }

    /**
     * Reads what is at a path of the server, as {@code kubectl get --raw} does. Returns at once and never throws.
     *
     * @param path such as {@code /readyz}
     * @param timeout the time for everything, including the wait for the limit; positive
     * @return the body, or exceptionally an {@link ApiServerException}
     * @hidden
     */
    @NotApi
    public CompletableFuture<byte[]> raw(String path, Duration timeout) {
        return send(ServerRequest.get("GET " + path, path), timeout, body -> body);
    }

    /**
     * Opens one more connection to the server, gets {@code /version} over it, and closes it. Returns at once.
     *
     * @param timeout the time for everything; positive
     * @return what it showed, whatever the HTTP code; or exceptionally an {@link
     *     dev.podcache.apiserver.ApiServerException}
     * @hidden
     */
    @NotApi
    public CompletableFuture<ConnectionFacts> probe(Duration timeout) {
        return connections.probe(ServerRequest.get("GET /version", "/version"), timeout);
    }

    /**
     * Returns the heartbeats of one node, which have their own connection and no limit. A process needs one.
     *
     * @param leaseDuration the duration of the node's Lease, at least 1 s; the timeout of a heartbeat depends on it
     * @return the heartbeats; closed together with this server, if not before
     * @throws IllegalArgumentException if {@code leaseDuration} is less than 1 s
     * @hidden
     */
    @NotApi
    public Heartbeats heartbeats(Duration leaseDuration) {
        return new Heartbeats(connections.heartbeats(leaseDuration), serialization);
    }

    /**
     * Reads the credentials again now, instead of within 10 s, because their files were replaced. Requests then use
     * connections with the new client certificate; watches that are open stay on the old ones until the server ends them.
     * Returns at once.
     *
     * @return completes when the credentials are read; exceptionally if there are none
     */
    public CompletableFuture<?> rereadCredentials() {
        return connections.rereadCredentials();
    }

    /** Returns the number of connections that are open or being opened, without those of heartbeats. */
    public int connections() {
        return connections.size();
    }

    /** Returns the source of time and threads for everything created here; closed with this server. */
    public Timekeeper timekeeper() {
        return timekeeper;
    }

    /**
     * Ends every watch, fails all requests and heartbeats in flight, closes all connections and stops all threads. Does
     * not close the client. Waits for the threads for some seconds at most. Idempotent.
     */
    @Override
    public void close() {
        connections.close();
        timekeeper.close();
    }

    /**
     * Sends one read or write, in a single attempt that counts against the limit. Returns at once and never throws.
     *
     * @param timeout the time for everything, including the wait for the limit; positive
     * @param decode decodes a 2xx body, on a worker thread
     * @return what {@code decode} returned or threw, or exceptionally an {@link ApiServerException}
     */
    <R> CompletableFuture<R> send(ServerRequest request, Duration timeout, Function<byte[], R> decode) {
        return send(requests, request, timeout, decode);
    }

    private <R> CompletableFuture<R> send(
            TokenBucket limit, ServerRequest request, Duration timeout, Function<byte[], R> decode) {
        Optional<Duration> wait = limit.take(timeout);
        return wait.isPresent()
                ? connections.send(wait.get(), request, timeout, ApiConnections.LONGEST_OBJECT, decode)
                : CompletableFuture.failedFuture(ApiServerException.withoutAnswer(
                        FailureReason.THROTTLED,
                        request.what(),
                        "not sent: the client-side rate limit would delay it for longer than "
                                + Durations.text(timeout),
                        null));
    }

    private <T extends HasMetadata> Fabric8ObjectDecoder<T> decoder(ObjectKind<T> kind) {
        return new Fabric8ObjectDecoder<>(kind, serialization);
    }

    /** A client from newClient(RequestConfig) keeps its impersonation in a tag, not in its Config. */
    private static RequestConfig requestConfig(KubernetesClient client) {
        RequestConfig tag = client.getHttpClient() instanceof Interceptor.RequestTags tags
                ? tags.getTag(RequestConfig.class)
                : null;
        return tag == null ? client.getConfiguration().getRequestConfig() : tag;
    }

    /** Returns the URL of the server without credentials, which fabric8 lets a caller write there. */
    private static String urlOf(Config config) {
        return String.valueOf(config.getMasterUrl()).replaceFirst("(?<=://)[^/?#]*@", "");
    }

    /**
     * The heartbeats of one node: its status and its Lease. They are sent one after another over their own connection
     * ({@link SerialRequests}), and do not count against the {@link RequestLimit}. Thread-safe.
     *
     * <p>The timeout of a call starts when all calls before it have ended. It is 3 s or a twelfth of the lease duration at
     * first, and a quarter of the lease duration at most. So a call completes after one quarter for each call in the queue,
     * itself included, at the latest.
     *
     * @hidden
     */
    @NotApi
    public static final class Heartbeats implements AutoCloseable {

        private final SerialRequests connection;
        private final ObjectApi<Node> nodes;
        private final ObjectApi<Lease> leases;

        /**
         * Creates the heartbeats of one node.
         *
         * @param connection sends the requests; closed by {@link #close}
         */
        Heartbeats(SerialRequests connection, KubernetesSerialization serialization) {
            this.connection = connection;
            this.nodes = new Fabric8ObjectApi<>(ObjectKind.NODE, serialization, connection::send);
            this.leases = new Fabric8ObjectApi<>(ObjectKind.LEASE, serialization, connection::send);
        }

        /** Returns the port to the Node. */
        public ObjectApi<Node> nodes() {
            return nodes;
        }

        /** Returns the port to the Lease. */
        public ObjectApi<Lease> leases() {
            return leases;
        }

        /**
         * Makes the next request use a new connection. Call this when heartbeats fail repeatedly, as upstream does with
         * onRepeatedHeartbeatFailure. Does not affect a request in flight. Returns at once.
         */
        public void reconnect() {
            connection.reconnect();
        }

        /**
         * Fails all requests, closes the connection and stops its threads; waits for them at most 10 s. Idempotent.
         */
        @Override
        public void close() {
            connection.close();
        }
    }
}
