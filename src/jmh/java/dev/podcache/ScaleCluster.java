package dev.podcache;

import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.ServerMetrics;
import dev.podcache.testing.Sockets;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.HttpClient;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A real API server with one namespace of {@linkplain ManySecrets Secrets}, {@code s0}, {@code s1}, .... They are made
 * when they are first needed.
 */
final class ScaleCluster implements AutoCloseable {

    static final String NAMESPACE = "scale";

    private final RealApiServer server;
    private final int port;
    private final ManySecrets secrets = new ManySecrets(NAMESPACE);
    private int made;

    ScaleCluster(String... flags) {
        server = RealApiServer.start(flags);
        port = URI.create(server.url()).getPort();
        try (KubernetesClient admin = client()) {
            admin.resource(new NamespaceBuilder()
                            .withNewMetadata()
                            .withName(NAMESPACE)
                            .endMetadata()
                            .build())
                    .create();
        }
    }

    /** A client with connections of its own, over Vert.x. */
    KubernetesClient client() {
        return client(HttpClients.vertx());
    }

    /** A client with connections of its own, over OkHttp. */
    KubernetesClient okHttpClient() {
        return client(HttpClients.okHttp());
    }

    private KubernetesClient client(HttpClient.Factory http) {
        return new KubernetesClientBuilder()
                .withConfig(server.config())
                .withHttpClientFactory(http)
                .build();
    }

    /** The version of the API server, such as {@code v1.20.2}. */
    String version() {
        try (KubernetesClient client = client()) {
            return client.getKubernetesVersion().getGitVersion();
        }
    }

    /** How many TCP connections this process has to the server. */
    long connections() {
        return Sockets.connectedTo(port);
    }

    /** What the server counts. */
    ServerMetrics metrics() {
        return server.metrics();
    }

    /** How many GETs of Secrets by name the server has answered. */
    long gets() {
        return metrics().requests("GET", "secrets");
    }

    static List<String> names(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "s" + i).toList();
    }

    /** That many pods which refer to all {@code names} between them, each name once. */
    static List<Pod> pods(int count, List<String> names) {
        List<Pod> pods = new ArrayList<>();
        for (int pod = 0; pod < count; pod++) {
            int first = pod;
            List<String> own = IntStream.range(0, names.size())
                    .filter(i -> i % count == first)
                    .mapToObj(names::get)
                    .toList();
            pods.add(pod("p" + pod, own));
        }
        return pods;
    }

    static Pod pod(String name, List<String> secrets) {
        return Pods.at(Pods.withSecrets(NAMESPACE, name, "uid-" + name, secrets), "1");
    }

    /** Makes Secrets until there are {@code count}. */
    void ensure(int count) throws Exception {
        try (KubernetesClient admin = client()) {
            secrets.create(admin, names(made, Math.max(made, count)));
            made = Math.max(made, count);
        }
    }

    /** A Secret with a payload that no other has. */
    Secret secret(String name) {
        return secrets.secret(name);
    }

    @Override
    public void close() {
        server.close();
    }
}
