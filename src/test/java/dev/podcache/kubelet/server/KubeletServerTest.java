package dev.podcache.kubelet.server;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.Uninterruptibles;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.CachedReviews;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.object.FailureReason;
import dev.podcache.object.PodKey;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.PrometheusText;
import dev.podcache.testing.Slow;
import dev.podcache.testing.TestCertificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The server over HTTPS, with clients of the JDK. */
@Slow
@ExtendWith(NoLeaks.class)
class KubeletServerTest {

    @TempDir
    Path folder;

    private ServerFixture fixture;

    @BeforeEach
    void start() throws IOException {
        fixture = new ServerFixture(folder);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void healthz_withAToken_isOk() throws Exception {
        HttpResponse<String> response = fixture.get("/healthz");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("ok");
        assertThat(fixture.reviews.accesses).containsExactly(new ResourceAccess("get", "nodes", "healthz", "worker-1"));
    }

    @Test
    void healthz_nodeHasAProblem_is500WithoutTheProblem_andThatIsBelow() throws Exception {
        fixture.problem = Optional.of("the runtime does not answer");

        HttpResponse<String> response = fixture.get("/healthz");

        assertThat(response.statusCode()).isEqualTo(500);
        assertThat(response.body()).isEqualTo("[+]ping ok\n[-]node failed: reason withheld\nhealthz check failed\n");
        assertThat(fixture.get("/healthz/node").body())
                .isEqualTo("internal server error: the runtime does not answer\n");
    }

    @ParameterizedTest
    @CsvSource({
        "/livez, healthz",
        "/readyz/ping, healthz",
        "/configz, configz",
        "/statusz, statusz",
        "/flagz, flagz",
        "/metrics, metrics"
    })
    void componentPage_needsItsSubresourceOrTheProxy(String path, String subresource) throws Exception {
        fixture.reviews.allowed =
                (user, access) -> access.subresource().equals(subresource.equals("metrics") ? "metrics" : "proxy");

        assertThat(fixture.get(path).statusCode()).isEqualTo(200);
        assertThat(fixture.reviews.accesses)
                .startsWith(new ResourceAccess("get", "nodes", subresource, "worker-1"))
                .hasSize(subresource.equals("metrics") ? 1 : 2);
        fixture.reviews.allowed = (user, access) -> false;
        fixture.clock.advance(CachedReviews.ALLOWED_FOR);
        assertThat(fixture.get(path).statusCode()).isEqualTo(403);
    }

    @Test
    void metrics_programSetNone_is404() throws Exception {
        Endpoints endpoints = new Endpoints(
                new Endpoints.Sources(
                        "worker-1",
                        ComponentInfo.of("podcache", "1.0"),
                        List::of,
                        Optional::empty,
                        fixture.runtime,
                        List::of,
                        Optional.empty()),
                fixture.clock);

        assertThat(catchThrowableOfType(RefusedException.class, () -> endpoints.answer(Requested.get("/metrics")))
                        .code())
                .isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Bearer", "Bearer unknown", "Basic Z29vZA=="})
    void request_withoutAcceptedCredentials_is401(String authorization) throws Exception {
        HttpRequest.Builder request = fixture.request("/pods");
        HttpResponse<String> response =
                fixture.send(authorization.isEmpty() ? request : request.header("Authorization", authorization));

        assertThat(response.statusCode()).isEqualTo(401);
        assertThat(response.body()).isEqualTo("Unauthorized");
        assertThat(fixture.reviews.accesses).isEmpty();
    }

    @Test
    void request_accessDenied_is403AndNamesTheAccess() throws Exception {
        fixture.reviews.allowed = (user, access) -> false;

        HttpResponse<String> response = fixture.get("/stats/summary");

        assertThat(response.statusCode()).isEqualTo(403);
        assertThat(response.body()).isEqualTo("Forbidden (user=reader, verb=get, resource=nodes, subresource=stats)");
    }

    @Test
    @ExpectedWarnings("authenticating a client failed; answered 401: POST TokenReview: connection refused")
    void request_apiServerDoesNotAnswer_is401() throws Exception {
        fixture.reviews.failing = true;

        assertThat(fixture.get("/pods").statusCode()).isEqualTo(401);
        assertThat(fixture.get("/pods").statusCode()).isEqualTo(401);
    }

    @Test
    @ExpectedWarnings("authenticating a client failed; answered 429: POST TokenReview: connection refused")
    void request_limitOfReviewsIsUsedUp_is429() throws Exception {
        fixture.reviews.failing = true;
        fixture.reviews.reason = FailureReason.THROTTLED;

        HttpResponse<String> response = fixture.get("/pods");

        assertThat(response.statusCode()).isEqualTo(429);
        assertThat(response.headers().firstValue("Retry-After")).contains("1");
    }

    @Test
    void request_withAClientCertificate_isOfItsCommonNameAndOrganizations() throws Exception {
        HttpResponse<String> response = sendAs(ServerFixture.tlsAs("prometheus", "monitoring", "readers"), "/metrics");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("podcache_pods 1\n");
        assertThat(fixture.reviews.users).singleElement().satisfies(user -> {
            assertThat(user.name()).isEqualTo("prometheus");
            assertThat(user.groups()).containsExactly("monitoring", "readers", "system:authenticated");
        });
        assertThat(fixture.reviews.tokens).isEmpty();
    }

    @Test
    void request_withACertificateOfAnotherAuthority_is401() throws Exception {
        TestCertificates other = TestCertificates.another();
        Files.writeString(folder.resolve("ca.crt"), other.authorityPem());
        fixture.clock.advance(WatchedFiles.PERIOD);

        assertThat(sendAs(ServerFixture.tlsAs("prometheus"), "/metrics").statusCode())
                .isEqualTo(401);
    }

    @Test
    void plainHttp_isRefused() throws Exception {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), fixture.server.port())) {
            socket.getOutputStream()
                    .write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            assertThat(answer).doesNotContain("HTTP/1.1");
        }
    }

    @Test
    void certificateFiles_renewed_areUsedForNewConnections() throws Exception {
        X509Certificate before = presented();
        TestCertificates renewed = TestCertificates.another();
        Files.writeString(folder.resolve("server.crt"), renewed.serverPem());
        Files.writeString(folder.resolve("server.key"), renewed.privateKeyPem());
        fixture.clock.advance(WatchedFiles.PERIOD);

        assertThat(presented()).isNotEqualTo(before);
    }

    @Test
    @ExpectedWarnings("the key is not the key of the certificate; the content before stays in use")
    void certificateFiles_oneIsRenewed_oldPairStaysInUseUntilBothAre() throws Exception {
        X509Certificate before = presented();
        TestCertificates renewed = TestCertificates.another();
        Files.writeString(folder.resolve("server.crt"), renewed.serverPem());
        fixture.clock.advance(WatchedFiles.PERIOD);
        assertThat(presented()).isEqualTo(before);

        Files.writeString(folder.resolve("server.key"), renewed.privateKeyPem());
        fixture.clock.advance(WatchedFiles.PERIOD);
        assertThat(presented()).isNotEqualTo(before);
    }

    private X509Certificate presented() throws Exception {
        return presentedBy(fixture.server);
    }

    private static X509Certificate presentedBy(KubeletServer server) throws Exception {
        try (SSLSocket socket =
                (SSLSocket) UncheckedTls.with().getSocketFactory().createSocket("127.0.0.1", server.port())) {
            socket.startHandshake();
            return (X509Certificate) socket.getSession().getPeerCertificates()[0];
        }
    }

    @Test
    void certificate_notConfigured_isSelfSignedForNodeAndAddress() throws Exception {
        try (KubeletServer server = KubeletServer.builder("worker-1", fixture.clock)
                .address("127.0.0.1")
                .port(0)
                .pods(List::of)
                .runtime(fixture.runtime)
                .reviews(fixture.reviews)
                .build()) {
            server.start();

            X509Certificate certificate = presentedBy(server);

            certificate.verify(certificate.getPublicKey());
            certificate.checkValidity(Date.from(fixture.clock.wallTime()));
            assertThat(certificate.getSubjectX500Principal().getName()).isEqualTo("CN=worker-1");
            assertThat(certificate.getExtendedKeyUsage()).containsExactly("1.3.6.1.5.5.7.3.1");
            assertThat(certificate.getSubjectAlternativeNames())
                    .containsExactly(List.of(2, "worker-1"), List.of(7, "127.0.0.1"));
        }
    }

    @Test
    void pods_areAPodList() throws Exception {
        JsonNode list = new ObjectMapper().readTree(fixture.get("/pods").body());

        assertThat(list.path("kind").asText()).isEqualTo("PodList");
        assertThat(list.path("apiVersion").asText()).isEqualTo("v1");
        assertThat(list.at("/items/0/metadata/name").asText()).isEqualTo("web");
        assertThat(list.path("items")).hasSize(1);
    }

    @Test
    void resourceMetrics_areWhatMetricsServerReads() throws Exception {
        fixture.runtime.usage = nothing -> List.of(usage(Duration.ofMillis(2500)));

        HttpResponse<String> response = fixture.get("/metrics/resource");

        assertThat(response.headers().firstValue("Content-Type")).contains("text/plain; version=0.0.4; charset=utf-8");
        assertThat(response.body())
                .contains(
                        "# TYPE container_cpu_usage_seconds_total counter\n"
                                + "container_cpu_usage_seconds_total{container=\"main\",namespace=\"shop\",pod=\"web\"}"
                                + " 2.5 1767225600000\n",
                        "container_memory_working_set_bytes{container=\"main\",namespace=\"shop\",pod=\"web\"} 100 ",
                        "container_start_time_seconds{container=\"main\",namespace=\"shop\",pod=\"web\"} 1767225590 ",
                        "pod_cpu_usage_seconds_total{namespace=\"shop\",pod=\"web\"} 2.5 ",
                        "pod_memory_working_set_bytes{namespace=\"shop\",pod=\"web\"} 100 ",
                        "node_cpu_usage_seconds_total 2.5 ",
                        "node_memory_working_set_bytes 100 ",
                        "\nresource_scrape_error 0\n",
                        "\nscrape_error 0\n");
    }

    @Test
    @ExpectedWarnings("measuring the containers failed; /metrics/resource reports scrape_error 1")
    void resourceMetrics_runtimeFails_reportTheError() throws Exception {
        fixture.runtime.usage = nothing -> {
            throw new IOException("no cgroups");
        };

        assertThat(fixture.get("/metrics/resource").body())
                .contains("\nscrape_error 1\n")
                .doesNotContain("node_cpu");
    }

    @Test
    void cadvisorMetrics_areThoseOfTheContainersOfTheNodesPods() throws Exception {
        fixture.runtime.usage = nothing -> List.of(usage(Duration.ofMillis(2500)));

        PrometheusText scraped =
                PrometheusText.parse(fixture.get("/metrics/cadvisor").body());

        assertThat(scraped.samples()).anySatisfy(line -> {
            assertThat(line.name()).isEqualTo("container_cpu_usage_seconds_total");
            assertThat(line.labels()).containsEntry("pod", "web").containsEntry("container", "main");
            assertThat(line.value()).isEqualTo(2.5);
        });
        assertThat(scraped.value("container_scrape_error", Map.of())).isZero();
    }

    @Test
    @ExpectedWarnings("measuring the containers failed; /metrics/cadvisor reports container_scrape_error 1")
    void cadvisorMetrics_runtimeFails_reportTheError() throws Exception {
        fixture.runtime.usage = nothing -> {
            throw new IOException("no cgroups");
        };

        assertThat(fixture.get("/metrics/cadvisor").body()).endsWith("container_scrape_error 1\n");
    }

    @Test
    void probeMetrics_haveTheResultsAndDurationsOfEachProbe() throws Exception {
        fixture.series = List.of(new ProbeSeries(
                PodKey.of("shop", "web", "uid-web"),
                "main",
                "Liveness",
                Map.of("successful", 3L, "failed", 1L),
                new TreeMap<>(Map.of(0.5, 3L, Double.POSITIVE_INFINITY, 4L)),
                2.25));

        PrometheusText scraped =
                PrometheusText.parse(fixture.get("/metrics/probes").body());

        Map<String, String> probe =
                Map.of("container", "main", "namespace", "shop", "pod", "web", "probe_type", "Liveness");
        assertThat(scraped.value("prober_probe_total", with(probe, Map.of("pod_uid", "uid-web", "result", "failed"))))
                .isEqualTo(1);
        assertThat(scraped.value("prober_probe_duration_seconds_bucket", with(probe, Map.of("le", "0.5"))))
                .isEqualTo(3);
        assertThat(scraped.value("prober_probe_duration_seconds_bucket", with(probe, Map.of("le", "+Inf"))))
                .isEqualTo(4);
        assertThat(scraped.value("prober_probe_duration_seconds_count", probe)).isEqualTo(4);
        assertThat(scraped.value("prober_probe_duration_seconds_sum", probe)).isEqualTo(2.25);
    }

    private static Map<String, String> with(Map<String, String> labels, Map<String, String> more) {
        return ImmutableMap.<String, String>builder()
                .putAll(labels)
                .putAll(more)
                .buildOrThrow();
    }

    @Test
    void summary_hasNodePodAndContainer() throws Exception {
        fixture.runtime.usage = nothing -> List.of(usage(Duration.ofSeconds(2)));

        JsonNode summary =
                new ObjectMapper().readTree(fixture.get("/stats/summary").body());

        assertThat(summary.at("/node/nodeName").asText()).isEqualTo("worker-1");
        assertThat(summary.at("/node/cpu/usageCoreNanoSeconds").asLong()).isEqualTo(2_000_000_000L);
        assertThat(summary.at("/pods/0/podRef").toString())
                .isEqualTo("{\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"uid-web\"}");
        assertThat(summary.at("/pods/0/containers/0/memory/workingSetBytes").asLong())
                .isEqualTo(100);
        assertThat(summary.at("/pods/0/containers/0/startTime").asText()).isEqualTo("2025-12-31T23:59:50Z");
        assertThat(summary.at("/pods/0/containers/0/logs/usedBytes").asLong()).isEqualTo(7);
        assertThat(new ObjectMapper()
                        .readTree(fixture.get("/stats/summary?only_cpu_and_memory=true")
                                .body())
                        .at("/pods/0/containers/0/logs")
                        .isMissingNode())
                .isTrue();
    }

    private static PodUsage usage(Duration cpu) {
        Instant now = Instant.parse("2026-01-01T00:00:00Z");
        return new PodUsage(
                PodKey.of("shop", "web", "uid-web"),
                List.of(new ContainerUsage("main", now, now.minusSeconds(10), cpu, 100, 80, 7, 5)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/nothing", "/", "/podsfake", "/stats/../exec/shop/web/main", "/logs/x", "/exec/shop"})
    void path_ofNoEndpoint_is404(String path) throws Exception {
        assertThat(fixture.get(path).statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PUT", "DELETE", "PATCH", "HEAD", "POST"})
    void method_notSupported_is405(String method) throws Exception {
        HttpResponse<String> response = fixture.send(fixture.request("/pods")
                .method(method, BodyPublishers.noBody())
                .header("Authorization", "Bearer good"));

        assertThat(response.statusCode()).isEqualTo(405);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/containerLogs/shop/web/main",
                "/exec/shop/web/main?output=1&command=ls",
                "/attach/shop/web/main",
                "/portForward/shop/web",
                "/metrics/resource",
                "/stats/summary"
            })
    void endpoint_runtimeLacksTheCapability_is501WithASentence(String path) throws Exception {
        fixture.close();
        fixture = new ServerFixture(folder, Optional.of(new HollowRuntime(fixture.clock)));

        HttpResponse<String> response = fixture.get(path);

        assertThat(response.statusCode()).isEqualTo(501);
        assertThat(response.body()).contains("this node ");
    }

    @Test
    @ExpectedWarnings("GET \"/metrics\" failed; answered 500")
    void request_supplierThrows_is500AndTheServerGoesOn() throws Exception {
        try (KubeletServer server = KubeletServer.builder("worker-1", fixture.clock)
                .address("127.0.0.1")
                .port(0)
                .certificate(folder.resolve("server.crt"), folder.resolve("server.key"))
                .pods(List::of)
                .runtime(fixture.runtime)
                .reviews(fixture.reviews)
                .metrics(() -> {
                    throw new StackOverflowError("too deep");
                })
                .build()) {
            server.start();
            String url = "https://127.0.0.1:" + server.port();

            assertThat(sendTo(url + "/metrics").body())
                    .contains("the node could not answer: ")
                    .contains("too deep");
            assertThat(sendTo(url + "/healthz").body()).isEqualTo("ok");
        }
    }

    @Test
    void runtime_hangs_furtherRequestsAreRefusedUntilItReturns() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(BoundedAnswers.MOST_ANSWERS);
        fixture.runtime.usage = nothing -> {
            begun.countDown();
            Uninterruptibles.awaitUninterruptibly(held);
            return List.of();
        };
        HttpClient client = ServerFixture.anonymous();
        List<CompletableFuture<HttpResponse<String>>> responses = new ArrayList<>();
        for (int i = 0; i < BoundedAnswers.MOST_ANSWERS; i++) {
            responses.add(client.sendAsync(
                    fixture.request("/metrics/resource")
                            .header("Authorization", "Bearer good")
                            .build(),
                    BodyHandlers.ofString()));
        }
        // a call that takes long gives its place to the next one
        await().pollInterval(Duration.ofMillis(5)).until(() -> {
            fixture.clock.advance(Duration.ofMillis(100));
            return begun.getCount() == 0;
        });

        assertThat(fixture.get("/healthz").statusCode()).isEqualTo(503);

        held.countDown();
        for (CompletableFuture<HttpResponse<String>> response : responses) {
            assertThat(response.get(Patience.SECONDS, TimeUnit.SECONDS).statusCode())
                    .isEqualTo(200);
        }
        await().untilAsserted(
                        () -> assertThat(fixture.get("/healthz").statusCode()).isEqualTo(200));
    }

    @Test
    void start_portIsTaken_saysSo() {
        try (KubeletServer second = KubeletServer.builder("worker-2", fixture.clock)
                .address("127.0.0.1")
                .port(fixture.server.port())
                .pods(List::of)
                .runtime(fixture.runtime)
                .reviews(fixture.reviews)
                .build()) {
            assertThatThrownBy(second::start)
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("cannot listen on 127.0.0.1:" + fixture.server.port() + ": ")
                    .hasMessageEndingWith("; choose another address or port");
        }
    }

    @Test
    void start_certificateFileIsMissing_namesIt() {
        Path missing = folder.resolve("none.crt");
        try (KubeletServer server = KubeletServer.builder("worker-2", fixture.clock)
                .certificate(missing, folder.resolve("server.key"))
                .pods(List::of)
                .runtime(fixture.runtime)
                .reviews(fixture.reviews)
                .build()) {
            assertThatThrownBy(server::start)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("there is no file " + missing);
        }
    }

    @Test
    void connection_idleFor90s_isClosed() throws Exception {
        try (SSLSocket socket = (SSLSocket)
                ServerFixture.tlsAs("idle").getSocketFactory().createSocket("127.0.0.1", fixture.server.port())) {
            socket.startHandshake();
            // the server begins to count when its side of the handshake ends
            await().until(() -> fixture.clock.scheduledTasks() > 2);

            fixture.clock.advance(OpenConnections.IDLE);

            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    private HttpResponse<String> sendAs(SSLContext tls, String path) throws IOException, InterruptedException {
        return ServerFixture.clientOf(tls).send(fixture.request(path).build(), BodyHandlers.ofString());
    }

    private static HttpResponse<String> sendTo(String url) throws IOException, InterruptedException {
        return ServerFixture.anonymous()
                .send(
                        HttpRequest.newBuilder(URI.create(url))
                                .header("Authorization", "Bearer good")
                                .build(),
                        BodyHandlers.ofString());
    }
}
