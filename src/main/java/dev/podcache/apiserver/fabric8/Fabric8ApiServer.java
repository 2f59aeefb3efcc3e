package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.http.ApiConnections;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.ObjectKind;
import dev.podcache.time.Timekeeper;
import dev.podcache.time.TokenBucket;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.function.ObjIntConsumer;

/**
 * The API server as a fabric8 client is configured for it: makes the ports of {@code dev.podcache.apiserver}. A process
 * needs one, because the client-side limit and the connections of watches are per instance. Thread-safe.
 *
 * <p>Addresses, TLS, proxies and credentials are those of the client's {@link Config}, and read again when they change.
 * Requests go over connections of our own: an {@code HttpClient.Factory} or an interceptor that the caller gave the
 * client does not apply to them. Watches, requests and heartbeats each have their own connections.
 */
public final class Fabric8ApiServer implements AutoCloseable {

    private final KubernetesClient client;
    private final Timekeeper timekeeper;
    private final ApiConnections connections;
    private final Requests requests;

    Fabric8ApiServer(KubernetesClient client, RequestLimit limit, Timekeeper timekeeper) {
        this(client, limit, timekeeper, (request, status) -> {});
    }

    /**
     * A server whose requests a test observes.
     *
     * @param observer as {@link ApiConnections} calls it
     */
    Fabric8ApiServer(
            KubernetesClient client,
            RequestLimit limit,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer) {
        this.client = client;
        this.timekeeper = timekeeper;
        Config config = client.getConfiguration();
        this.connections = new ApiConnections(urlOf(config), config, requestConfig(client), timekeeper, observer);
        this.requests = new Requests(connections, new TokenBucket(limit.perSecond(), limit.burst(), timekeeper));
    }

    /** The server that {@code client} talks to, with the {@linkplain RequestLimit#DEFAULT default limit}. */
    public static Fabric8ApiServer of(KubernetesClient client) {
        return of(client, RequestLimit.DEFAULT);
    }

    /**
     * The server that {@code client} talks to.
     *
     * @param client says where the server is and who we are; never closed here
     */
    public static Fabric8ApiServer of(KubernetesClient client, RequestLimit limit) {
        Objects.requireNonNull(client, "client");
        Objects.requireNonNull(limit, "limit");
        return new Fabric8ApiServer(client, limit, Timekeeper.system());
    }

    /** Reads objects of one kind by name. */
    public <T extends HasMetadata> ObjectGetter<T> getter(ObjectKind<T> kind) {
        return new Fabric8ObjectGetter<>(kind, requests, decoder(kind));
    }

    /**
     * Follows objects of one kind.
     *
     * @param namespace empty for every namespace, or for a kind that has none
     * @param fieldSelector such as {@code spec.nodeName=worker-1}, or empty for all
     */
    public <T extends HasMetadata> ListerWatcher<T> listerWatcher(
            ObjectKind<T> kind, String namespace, String fieldSelector) {
        return new Fabric8ListerWatcher<>(
                new Fabric8ListerWatcher.ObjectSelection(kind, namespace, fieldSelector),
                connections.session(),
                decoder(kind));
    }

    /**
     * Reads and writes objects of one kind.
     *
     * @param timeout of each call, positive; waiting for the limit counts
     */
    public <T extends HasMetadata> ObjectApi<T> api(ObjectKind<T> kind, Duration timeout) {
        return new Fabric8ObjectApi<>(
                kind,
                client.getKubernetesSerialization(),
                (request, decode) -> requests.send(request, timeout, decode));
    }

    /**
     * A connection for the heartbeats of one node, outside the limit. A process needs one.
     *
     * @param leaseDuration how long the node is believed alive without one, at least 1 s; from
     *     it comes how long they may take
     * @return to be closed, else closed with this
     * @throws IllegalArgumentException if the duration is shorter
     */
    public Heartbeats heartbeats(Duration leaseDuration) {
        return new Heartbeats(connections.heartbeats(leaseDuration), client.getKubernetesSerialization());
    }

    /** The time and the threads of everything made here; closed with it. */
    public Timekeeper timekeeper() {
        return timekeeper;
    }

    /**
     * Ends every watch and its connection, fails requests in flight, heartbeats too, and ends the threads started here.
     * The client stays open. Waits at most some seconds. Idempotent.
     */
    @Override
    public void close() {
        connections.close();
        timekeeper.close();
    }

    private <T extends HasMetadata> Fabric8ObjectDecoder<T> decoder(ObjectKind<T> kind) {
        return new Fabric8ObjectDecoder<>(kind, client.getKubernetesSerialization());
    }

    /** A client made with newClient(RequestConfig) impersonates by its tag, not by its Config. */
    private static RequestConfig requestConfig(KubernetesClient client) {
        RequestConfig tag = client.getHttpClient() instanceof Interceptor.RequestTags tags
                ? tags.getTag(RequestConfig.class)
                : null;
        return tag == null ? client.getConfiguration().getRequestConfig() : tag;
    }

    /** The server's URL without credentials and without a slash at its end. */
    private static String urlOf(Config config) {
        URI url = URI.create(config.getMasterUrl());
        String port = url.getPort() < 0 ? "" : ":" + url.getPort();
        String path = url.getPath() == null ? "" : url.getPath();
        return url.getScheme() + "://" + url.getHost() + port + path.replaceAll("/+$", "");
    }
}
