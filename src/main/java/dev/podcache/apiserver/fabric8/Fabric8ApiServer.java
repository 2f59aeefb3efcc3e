package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.OwnAccess;
import dev.podcache.apiserver.TokenRequests;
import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.apiserver.http.ConnectionFacts;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import dev.podcache.time.TokenBucket;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Duration;
import java.util.Objects;
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
 * change. Requests do not use the client's HTTP connections, so a custom {@code HttpClient.Factory} or interceptor does
 * not apply to them. Watches, requests and heartbeats each have their own connections.
 */
public final class Fabric8ApiServer implements AutoCloseable {

    private final KubernetesSerialization serialization;
    private final Timekeeper timekeeper;
    private final ApiConnections connections;
    private final Requests requests;
    private final Requests reviews;
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
        this.requests = new Requests(connections, new TokenBucket(limit.perSecond(), limit.burst(), timekeeper));
        // the clients of a server cause reviews, and must not use up the limit of its own requests
        this.reviews = new Requests(connections, new TokenBucket(limit.perSecond(), limit.burst(), timekeeper));
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
        // objects are decoded as a known class, so no list of all classes is needed
        return new KubernetesSerialization(LazyModelDeserializers.mapper(), false);
    }

    /** Returns a getter of objects of one kind. */
    public <T extends HasMetadata> ObjectGetter<T> getter(ObjectKind<T> kind) {
        return new Fabric8ObjectGetter<>(kind, requests, decoder(kind));
    }

    /**
     * Returns a lister and watcher of objects of one kind.
     *
     * @param namespace empty for all namespaces, or for a cluster-scoped kind
     * @param fieldSelector such as {@code spec.nodeName=worker-1}; empty for all objects
     */
    public <T extends HasMetadata> ListerWatcher<T> listerWatcher(
            ObjectKind<T> kind, String namespace, String fieldSelector) {
        return listerWatcher(ObjectSelection.of(kind, namespace, fieldSelector), decoder(kind));
    }

    private <T extends HasMetadata> ListerWatcher<T> listerWatcher(
            ObjectSelection selection, ObjectDecoder<T> decoder) {
        return new Fabric8ListerWatcher<>(selection, connections.session(), decoder, streamedLists, false);
    }

    /** Returns a function that makes a lister-watcher of one object of a kind, selected by its name. */
    public <T extends HasMetadata> Function<ObjectKey, ListerWatcher<T>> byName(ObjectKind<T> kind) {
        ObjectDecoder<T> shared = decoder(kind);
        return key -> listerWatcher(ObjectSelection.byName(kind, key.namespace(), key.name()), shared);
    }

    /**
     * Returns a function that makes a lister-watcher of those objects of one namespace whose names a predicate accepts
     * at the time they are received. Other objects are received, but not decoded. Each list is a quorum read.
     */
    public <T extends HasMetadata> BiFunction<String, Predicate<String>, ListerWatcher<T>> inNamespace(
            ObjectKind<T> kind) {
        return (namespace, names) -> new Fabric8ListerWatcher<>(
                ObjectSelection.of(kind, namespace, ""),
                connections.session(),
                new SelectiveDecoder<>(decoder(kind), names),
                streamedLists,
                true);
    }

    /**
     * Returns the port to read and write objects of one kind.
     *
     * @param timeout the time for each call, including the wait for the limit; positive
     */
    public <T extends HasMetadata> ObjectApi<T> api(ObjectKind<T> kind, Duration timeout) {
        return new Fabric8ObjectApi<>(
                kind, serialization, (request, decode) -> requests.send(request, timeout, decode));
    }

    /**
     * Returns the port to request tokens of ServiceAccounts.
     *
     * @param timeout the time for each call, including the wait for the limit; positive
     */
    public TokenRequests tokenRequests(Duration timeout) {
        return new Fabric8TokenRequests(serialization, requests, timeout);
    }

    /**
     * Returns the port to review tokens and accesses. Reviews have a client-side limit of their own, as large as the
     * limit of other requests.
     *
     * @param timeout the time for each call, including the wait for the limit; positive
     */
    public AccessReviews accessReviews(Duration timeout) {
        return new Fabric8AccessReviews(serialization, reviews, timeout);
    }

    /**
     * Returns the port to ask what our credentials allow. Its requests have the limit of {@link #accessReviews}.
     *
     * @param timeout the time for each call, including the wait for the limit; positive
     */
    public OwnAccess ownAccess(Duration timeout) {
        return new Fabric8OwnAccess(new Fabric8AccessReviews(serialization, reviews, timeout));
    }

    /**
     * Opens one more connection to the server, gets {@code /version} over it, and closes it. Returns at once.
     *
     * @param timeout the time for everything; positive
     * @return what it showed, whatever the HTTP code; or exceptionally an {@link
     *     dev.podcache.apiserver.ApiServerException}
     */
    public CompletableFuture<ConnectionFacts> probe(Duration timeout) {
        return connections.probe(ServerRequest.get("GET /version", "/version"), timeout);
    }

    /**
     * Returns the heartbeats of one node, which have their own connection and no limit. A process needs one.
     *
     * @param leaseDuration the duration of the node's Lease, at least 1 s; the timeout of a heartbeat depends on it
     * @return the heartbeats; closed together with this server, if not before
     * @throws IllegalArgumentException if {@code leaseDuration} is less than 1 s
     */
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
}
