package dev.podcache.kubelet.server;

import com.google.common.base.Splitter;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import dev.podcache.testing.TestCertificates;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.assertj.core.api.Assertions;

/** A server of node {@code worker-1} with pod {@code shop/web}, on hand-driven time, and clients of it. */
final class ServerFixture implements AutoCloseable {

    private static final TestCertificates CERTIFICATES = certificates();

    final ManualTimekeeper clock = new ManualTimekeeper();
    final FakeReviews reviews = new FakeReviews();
    final ServedRuntime runtime = new ServedRuntime();
    final FakeView view = new FakeView();
    final List<Pod> pods = new CopyOnWriteArrayList<>(List.of(web().build()));
    final Path folder;
    final KubeletServer server;
    volatile List<ProbeSeries> series = List.of();
    volatile List<ObjectEntry> objects = List.of();
    volatile Optional<String> problem = Optional.empty();

    ServerFixture(Path folder) throws IOException {
        this(folder, Optional.empty());
    }

    /** Starts a server with another runtime than {@link #runtime}. */
    ServerFixture(Path folder, Optional<PodRuntime> other) throws IOException {
        this.folder = folder;
        try {
            Files.writeString(folder.resolve("ca.crt"), CERTIFICATES.authorityPem());
            Files.writeString(folder.resolve("server.crt"), CERTIFICATES.serverPem());
            Files.writeString(folder.resolve("server.key"), CERTIFICATES.privateKeyPem());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
        server = KubeletServer.builder("worker-1", clock)
                .address("127.0.0.1")
                .port(0)
                .certificate(folder.resolve("server.crt"), folder.resolve("server.key"))
                .clientAuthority(folder.resolve("ca.crt"))
                .pods(() -> pods)
                .health(() -> problem)
                .metrics(() -> "podcache_pods 1\n")
                .objects(() -> objects)
                .page(view)
                .probes(() -> series)
                .runtime(other.orElse(runtime))
                .reviews(reviews)
                .build();
        try {
            server.start();
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    static TestCertificates certificates() {
        try {
            return new TestCertificates();
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    static PodBuilder web() {
        return new PodBuilder(Pods.assigned("worker-1", "web").build())
                .editMetadata()
                .withUid("uid-web")
                .endMetadata();
    }

    /** Returns a TLS context that trusts the server, with a certificate of a user whom its authority knows. */
    static SSLContext tlsAs(String user, String... groups) {
        try {
            return CERTIFICATES.tlsAs(user, groups);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    String url(String path) {
        return "https://127.0.0.1:" + server.port() + path;
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(url(path))).timeout(Duration.ofSeconds(Patience.SECONDS));
    }

    /** Opens a WebSocket with the token that the reviews know, with one subprotocol or more, or none. */
    WebSocket connect(String path, String subprotocols, WebSocket.Listener messages) throws Exception {
        WebSocket.Builder builder =
                anonymous().newWebSocketBuilder().header("Authorization", "Bearer " + FakeReviews.TOKEN);
        if (!subprotocols.isEmpty()) {
            List<String> all = Splitter.on(' ').splitToList(subprotocols);
            builder.subprotocols(all.get(0), all.subList(1, all.size()).toArray(String[]::new));
        }
        return builder.buildAsync(URI.create(url(path).replace("https:", "wss:")), messages)
                .get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    /** Returns the code and the body of the answer to a handshake that is refused. */
    String refusal(String path, String subprotocols) {
        ExecutionException failure = Assertions.catchThrowableOfType(
                ExecutionException.class, () -> connect(path, subprotocols, new ChannelMessages()));
        if (failure.getCause() instanceof WebSocketHandshakeException refused) {
            return refused.getResponse().statusCode() + " "
                    + refused.getResponse().body();
        }
        throw new AssertionError("the handshake was not answered", failure);
    }

    /** Sends a GET with the token that the reviews know, and without a client certificate. */
    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(request(path).header("Authorization", "Bearer " + FakeReviews.TOKEN));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return anonymous().send(request.build(), BodyHandlers.ofString());
    }

    /** Returns a client without a certificate. */
    static HttpClient anonymous() {
        return clientOf(withoutCertificate());
    }

    static HttpClient clientOf(SSLContext tls) {
        return HttpClient.newBuilder().sslContext(tls).build();
    }

    static SSLContext withoutCertificate() {
        try {
            return CERTIFICATES.tlsWithoutCertificate();
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        server.close();
        view.cache.close();
        clock.close();
    }
}
