package dev.podcache.kubelet.server;

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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

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
}
