package dev.podcache.kubelet.server;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The health port over HTTP. */
@ExtendWith(NoLeaks.class)
class HealthServerTest {

    private final Timekeeper timekeeper = Timekeeper.system();
    private volatile Optional<String> problem = Optional.empty();
    private final HealthServer server = new HealthServer(
            ComponentInfo.of("podcache", "1.0")
                    .withChecks(
                            List.of(new HealthCheck("loop", () -> problem)),
                            List.of(new HealthCheck("work", () -> Optional.of("Secret shop/db is forbidden"))))
                    .withMetrics(() -> "up 1\n")
                    .withConfiguration(() -> Map.of("secret", "path")),
            timekeeper);

    @AfterEach
    void close() {
        server.close();
        timekeeper.close();
    }

    private HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .timeout(Duration.ofSeconds(Patience.SECONDS))
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }

    @Test
    void health_loopback_isServedWithoutReasons() throws Exception {
        server.start("127.0.0.1", 0);

        assertThat(send("GET", "/healthz").body()).isEqualTo("ok");
        assertThat(send("GET", "/livez/").body()).isEqualTo("ok");
        assertThat(send("GET", "/livez/loop").body()).isEqualTo("ok");
        assertThat(send("GET", "/metrics").body()).isEqualTo("up 1\n");
        assertThat(send("GET", "/readyz").statusCode()).isEqualTo(500);
        assertThat(send("GET", "/readyz").body()).doesNotContain("shop");
        assertThat(send("GET", "/readyz/work").body()).isEqualTo("internal server error: reason withheld\n");
        problem = Optional.of("it has died");
        assertThat(send("GET", "/livez").statusCode()).isEqualTo(500);
        assertThat(send("GET", "/healthz").statusCode()).isEqualTo(500);
    }

    @Test
    void anythingElse_isRefused() throws Exception {
        server.start("127.0.0.1", 0);

        assertThat(send("GET", "/debug/objects").statusCode()).isEqualTo(404);
        assertThat(send("GET", "/").statusCode()).isEqualTo(404);
        assertThat(send("GET", "/metrics/resource").statusCode()).isEqualTo(404);
        assertThat(send("POST", "/livez").statusCode()).isEqualTo(405);
        assertThat(send("GET", "/livez/a%20b").statusCode()).isEqualTo(404);
        assertThat(send("GET", "/livez/none").statusCode()).isEqualTo(404);
    }

    @Test
    void component_loopback_isServed() throws Exception {
        server.start("127.0.0.1", 0);

        assertThat(send("GET", "/configz").body()).isEqualTo("{\"secret\":\"path\"}");
        assertThat(send("GET", "/statusz").statusCode()).isEqualTo(200);
        assertThat(send("GET", "/flagz").statusCode()).isEqualTo(200);
    }

    @Test
    void component_everyAddress_isHealthOnly() throws Exception {
        server.start("0.0.0.0", 0);

        for (String path : List.of("/metrics", "/configz", "/statusz", "/flagz", "/debug/objects")) {
            HttpResponse<String> answer = send("GET", path);
            assertThat(answer.statusCode()).as(path).isEqualTo(404);
            assertThat(answer.body()).contains("at a loopback address");
        }
        assertThat(send("GET", "/livez").statusCode()).isEqualTo(200);
    }

    @Test
    @ExpectedWarnings("GET \"/metrics\" failed; answered 500")
    void metrics_supplierThrows_is500WithoutItsMessage() throws Exception {
        try (HealthServer throwing = new HealthServer(
                ComponentInfo.of("podcache", "1.0").withMetrics(() -> {
                    throw new IllegalStateException("for the test");
                }),
                timekeeper)) {
            throwing.start("127.0.0.1", 0);
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + throwing.port() + "/metrics"))
                    .build();

            HttpResponse<String> response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());

            assertThat(response.statusCode()).isEqualTo(500);
            assertThat(response.body()).doesNotContain("for the test");
        }
    }

    @Test
    void start_portIsInUse_saysWhich() throws Exception {
        server.start("127.0.0.1", 0);
        try (HealthServer second = new HealthServer(ComponentInfo.of("podcache", "1.0"), timekeeper)) {
            assertThatThrownBy(() -> second.start("127.0.0.1", server.port()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("127.0.0.1:" + server.port());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/debug/objects", "/configz", "/metrics", "/statusz", "/flagz", "/healthz", "/livez/loop"})
    void loopback_requestForAnotherHost_isRefused(String path) throws Exception {
        server.start("127.0.0.1", 0);

        for (String host :
                List.of("evil.example", "localhost.evil.example:80", "127.0.0.2", "localhost:1:2", "0.0.0.0")) {
            assertThat(ask(path, host)).as(host).startsWith("HTTP/1.1 403 ").doesNotContain("secret");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "LocalHost:10248", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:10248"})
    void loopback_requestForThisMachine_isAnswered(String host) throws Exception {
        server.start("127.0.0.1", 0);

        assertThat(ask("/configz", host)).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void loopback_otherLoopbackAddress_isAHostToo() throws Exception {
        server.start("127.0.0.5", 0);

        assertThat(askAt("127.0.0.5", "/configz", "127.0.0.5:" + server.port())).startsWith("HTTP/1.1 200 ");
        assertThat(askAt("127.0.0.5", "/configz", "127.0.0.6")).startsWith("HTTP/1.1 403 ");
    }

    @Test
    void everyAddress_anyHost_isAnsweredItsHealth() throws Exception {
        server.start("0.0.0.0", 0);

        assertThat(ask("/livez", "worker-1.example")).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void pipelinedRequests_answersAreNotRead_clientIsNotReadFromFurther() throws Exception {
        server.start("127.0.0.1", 0);
        CompletableFuture<Object> end = new CompletableFuture<>();
        try (RawClient client = RawClient.plain(server.port())) {
            AtomicLong sent = client.sendAgain("GET / HTTP/1.1\r\n\r\n".repeat(500), end);
            AtomicLong last = new AtomicLong(-1);
            await().pollInterval(Duration.ofMillis(300))
                    .until(() -> sent.get() > 0 && last.getAndSet(sent.get()) == sent.get());

            assertThat(sent.get()).isLessThan(32 << 20);
            assertThat(send("GET", "/healthz").body()).isEqualTo("ok");
            await().until(end::isDone);
        }
    }

    @Test
    void unfinishedHeads_tooMuchInAll_othersAreServed() throws Exception {
        server.start("127.0.0.1", 0);
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 500; i++) {
                RawClient client = RawClient.plain(server.port());
                clients.add(client);
                client.send("GET / HTTP/1.1\r\nX: " + "a".repeat(60_000));
            }
            await().until(() -> HeldBytes.RECEIVED.total() > 1 << 20);
            assertThat(HeldBytes.RECEIVED.total()).isLessThanOrEqualTo(8 << 20);
            assertThat(send("GET", "/healthz").body()).isEqualTo("ok");
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
    }

    @Test
    void largeAnswers_areNotRead_memoryIsBoundedAndOthersAreServed() throws Exception {
        String large = "a 1\n".repeat(1_000_000);
        List<RawClient> clients = new ArrayList<>();
        try (HealthServer serving =
                new HealthServer(ComponentInfo.of("podcache", "1.0").withMetrics(() -> large), timekeeper)) {
            serving.start("127.0.0.1", 0);
            for (int i = 0; i < 100; i++) {
                RawClient client = RawClient.plain(serving.port());
                clients.add(client);
                client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
            }
            await().until(() -> HeldBytes.UNSENT.total() > 0);
            try (RawClient other = RawClient.plain(serving.port())) {
                assertThat(other.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
                                .answer())
                        .startsWith("HTTP/1.1 ");
            }
            assertThat(HeldBytes.UNSENT.total())
                    .isLessThanOrEqualTo(Runtime.getRuntime().maxMemory() / 16 + large.length());
        } finally {
            for (RawClient client : clients) {
                client.close();
            }
        }
        await().until(() -> HeldBytes.UNSENT.total() == 0);
    }

    private String ask(String path, String host) throws IOException {
        return askAt("127.0.0.1", path, host);
    }

    private String askAt(String address, String path, String host) throws IOException {
        try (RawClient client = RawClient.plain(address, server.port())) {
            return client.send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
                    .answer();
        }
    }
}
