package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.kubelet.certificate.CertificateRotation;
import dev.podcache.kubelet.certificate.NodeCertificate;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.micrometer.CertificateMeterBinder;
import dev.podcache.micrometer.PrometheusScrape;
import dev.podcache.object.Subject;
import dev.podcache.testing.FixedHost;
import dev.podcache.testing.FreePorts;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TestCertificates;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.micrometer.core.instrument.Tags;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * An agent of node {@code worker-1} on an embedded API server, with its HTTPS endpoint, its health port and one pod that
 * has the Secret {@code shop/db}, whose content is the canary. Its certificate is rotated by a rotation that is not started.
 */
final class ServedAgent implements AutoCloseable {

    static final String NODE = "worker-1";

    static final String TOKEN = "good";

    private final Timekeeper timekeeper = Timekeeper.system();
    final InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
    private final EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
    final KubernetesClient client;
    private final TestCertificates certificates;
    private final Fabric8ApiServer rotating;
    private final CertificateRotation rotation;
    final NodeAgent agent;

    /** Lets everybody with the token do everything. */
    record OneToken(String token) implements AccessReviews {

        @Override
        public CompletableFuture<Optional<Subject>> reviewToken(String shown) {
            return CompletableFuture.completedFuture(Optional.of(shown)
                    .filter(token::equals)
                    .map(known -> Subject.user("reader", List.of(), "u-1", Map.of())));
        }

        @Override
        public CompletableFuture<Review> review(Subject user, ResourceAccess access) {
            return CompletableFuture.completedFuture(new Review(true, ""));
        }
    }

    ServedAgent(Path folder) throws IOException, GeneralSecurityException {
        this(folder, NodeLeaseOptions.DEFAULT_DURATION);
    }

    /** Starts an agent whose Lease has this duration. */
    ServedAgent(Path folder, Duration lease) throws IOException, GeneralSecurityException {
        this(folder, lease, UnaryOperator.identity());
    }

    /** Starts an agent that {@code changes} has changed. */
    ServedAgent(Path folder, Duration lease, UnaryOperator<NodeAgentBuilder> changes)
            throws IOException, GeneralSecurityException {
        certificates = new TestCertificates();
        Path certificate = Files.writeString(folder.resolve("server.crt"), certificates.serverPem());
        Path key = Files.writeString(folder.resolve("server.key"), certificates.privateKeyPem());
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl(server.url())
                .withOauthToken(NoLeaks.CANARY)
                .build();
        client = new KubernetesClientBuilder().withConfig(config).build();
        rotating = Fabric8ApiServer.of(client);
        rotation = CertificateRotation.of(NodeCertificate.of(NODE, folder), rotating);
        NodeAgentBuilder builder = NodeAgent.builder(client)
                .node(NODE)
                .facts(new FixedHost())
                .scrape(node ->
                        PrometheusScrape.ofNode(node, List.of(new CertificateMeterBinder(rotation, Tags.empty()))))
                .flags(Map.of("max-pods", "110", "hostname-override", NODE))
                .leaseDuration(lease)
                .healthPort("127.0.0.1", FreePorts.find(1).get(0))
                .server(options -> options.address("127.0.0.1")
                        .port(0)
                        .certificate(certificate, key)
                        .reviews(new OneToken(TOKEN)));
        agent = changes.apply(builder).build();
        cluster.create(Secrets.of("shop", "db", NoLeaks.CANARY));
        cluster.create(Pods.withVolume(Pods.assigned(NODE, "web"), "db").build());
        agent.start();
        await().until(() -> agent.healthPort().isPresent() && agent.httpsPort().isPresent());
    }

    /** Waits until the pod runs, its Secret is cached, and the Lease is renewed. */
    ServedAgent awaitRunning() {
        await().until(() -> agent.sinceRenewal().isPresent()
                && "Running".equals(phase())
                && agent.counts().runningPods() == 1);
        return this;
    }

    /** Ends the API server; the agent goes on. */
    void closeServer() {
        server.close();
    }

    private String phase() {
        Pod pod = cluster.get(Pod.class, "shop", "web");
        return pod.getStatus() == null ? "" : String.valueOf(pod.getStatus().getPhase());
    }

    /** Sends a GET to the health port. */
    HttpResponse<String> health(String path) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + agent.healthPort().orElseThrow() + path);
        return HttpClient.newHttpClient().send(request(uri).build(), BodyHandlers.ofString());
    }

    /** Sends a GET to the HTTPS endpoint. */
    HttpResponse<String> https(String path, String... headers)
            throws IOException, InterruptedException, GeneralSecurityException {
        URI uri = URI.create("https://127.0.0.1:" + agent.httpsPort().orElseThrow() + path);
        HttpRequest.Builder request = request(uri).header("Authorization", "Bearer " + TOKEN);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return HttpClient.newBuilder()
                .sslContext(certificates.tlsWithoutCertificate())
                .build()
                .send(request.build(), BodyHandlers.ofString());
    }

    private static HttpRequest.Builder request(URI uri) {
        return HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(Patience.SECONDS));
    }

    @Override
    public void close() {
        agent.close();
        rotation.close();
        rotating.close();
        client.close();
        server.close();
        cluster.close();
        timekeeper.close();
    }
}
