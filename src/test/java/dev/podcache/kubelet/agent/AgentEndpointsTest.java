package dev.podcache.kubelet.agent;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.PrometheusText;
import dev.podcache.testing.Slow;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The endpoints of a whole agent. */
@Slow
@ExtendWith(NoLeaks.class)
class AgentEndpointsTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Those of meters that a kubelet has, of Micrometer's, and of our own. */
    private static final Set<String> LABELS = Set.of(
            "kind",
            "strategy",
            "outcome",
            "reason",
            "state",
            "result",
            "cache",
            "container_state",
            "probe_type",
            "eviction_signal",
            "area",
            "id");

    @TempDir
    Path folder;

    private ServedAgent served;

    @BeforeEach
    void start() throws IOException, GeneralSecurityException {
        served = new ServedAgent(folder).awaitRunning();
    }

    @AfterEach
    void close() {
        served.close();
    }

    @Test
    void metrics_bothPorts_areValidTextWithWhatTheAgentDid() throws Exception {
        PrometheusText scraped = PrometheusText.parse(served.health("/metrics").body());

        assertThat(scraped.value("kubelet_running_pods", Map.of())).isEqualTo(1);
        assertThat(scraped.value("kubelet_running_containers", Map.of("container_state", "running")))
                .isEqualTo(1);
        assertThat(scraped.value("podcache_node_registered", Map.of())).isEqualTo(1);
        assertThat(scraped.value("podcache_node_lease_age_seconds", Map.of())).isBetween(0.0, 60.0);
        assertThat(scraped.value("podcache_node_lease_renewals_total", Map.of("outcome", "succeeded")))
                .isPositive();
        assertThat(scraped.value("podcache_node_status_updates_total", Map.of("outcome", "succeeded")))
                .isPositive();
        assertThat(scraped.value("podcache_pod_status_patches_total", Map.of("outcome", "succeeded")))
                .isPositive();
        assertThat(scraped.value("podcache_objects", Map.of("cache", "podcache", "kind", "Secret", "state", "fresh")))
                .isEqualTo(1);
        HttpResponse<String> https = served.https("/metrics");
        assertThat(https.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain; version=0.0.4"));
        assertThat(PrometheusText.parse(https.body()).types()).isEqualTo(scraped.types());
    }

    @Test
    void metrics_labels_nameNoObjects() throws Exception {
        PrometheusText scraped = PrometheusText.parse(served.health("/metrics").body());

        for (PrometheusText.MetricLine sample : scraped.samples()) {
            assertThat(LABELS).as(sample.name()).containsAll(sample.labels().keySet());
            assertThat(sample.labels().values()).doesNotContain("shop", "web", "db", ServedAgent.NODE);
        }
    }

    @Test
    void livezAndReadyz_runningAgent_passWithTheirChecks() throws Exception {
        assertThat(served.health("/livez").body()).isEqualTo("ok");
        assertThat(served.health("/livez?verbose").body()).isEqualTo("""
                [+]ping ok
                [+]node-status ok
                [+]lease ok
                [+]pod-workers ok
                [+]eviction ok
                livez check passed
                """);
        assertThat(served.https("/readyz?verbose&exclude=objects").body()).isEqualTo("""
                [+]ping ok
                [+]node-registered ok
                [+]lease-renewed ok
                [+]objects excluded: ok
                readyz check passed
                """);
    }

    @Test
    void livez_apiServerIsAway_passes(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("failed; retrying: ");
        leaks.allowWarnings("the Lease of Node worker-1 ");
        leaks.allowWarnings("status of Node worker-1 was not reported");
        served.close();
        // it is renewed every second
        served = new ServedAgent(folder, Duration.ofSeconds(4)).awaitRunning();
        served.closeServer();
        await().until(() -> served.agent.counts().leaseRenewals().entrySet().stream()
                .anyMatch(outcome -> !outcome.getKey().equals("succeeded") && outcome.getValue() > 0));

        assertThat(served.health("/livez").statusCode()).isEqualTo(200);
    }

    @Test
    void configz_isTheConfigurationInEffect() throws Exception {
        JsonNode configuration = JSON.readTree(served.https("/configz").body()).path("kubeletconfig");

        assertThat(configuration.path("kind").asText()).isEqualTo("KubeletConfiguration");
        assertThat(configuration.path("syncFrequency").asText()).isEqualTo("1m0s");
        assertThat(configuration.path("nodeLeaseDurationSeconds").asInt()).isEqualTo(40);
        assertThat(configuration
                        .path("configMapAndSecretChangeDetectionStrategy")
                        .asText())
                .isEqualTo("Watch");
        assertThat(configuration.path("evictionHard").path("memory.available").asText())
                .isEqualTo("100Mi");
    }

    @Test
    void flagz_isWhatTheProgramSays() throws Exception {
        assertThat(served.https("/flagz").body())
                .endsWith("purposes only.\nhostname-override=worker-1\nmax-pods=110\n");
    }

    @Test
    void everyEndpoint_secretIsCachedAndMounted_showsNoContentAndNoCredentials() throws Exception {
        List<String> paths = List.of(
                "/healthz",
                "/healthz?verbose",
                "/livez?verbose",
                "/readyz?verbose",
                "/readyz/objects",
                "/metrics",
                "/metrics/resource",
                "/metrics/cadvisor",
                "/metrics/probes",
                "/configz",
                "/statusz",
                "/flagz",
                "/pods",
                "/runningpods",
                "/stats/summary",
                "/debug/objects",
                "/debug",
                "/");
        for (String path : paths) {
            HttpResponse<String> https = served.https(path);
            assertThat(https.statusCode()).as(path).isIn(200, 404, 501);
            NoLeaks.saw(https.body());
            NoLeaks.saw(https.headers().map());
            HttpResponse<String> health = served.health(path);
            assertThat(health.statusCode()).as(path).isIn(200, 404);
            NoLeaks.saw(health.body());
            NoLeaks.saw(health.headers().map());
        }
        assertThat(served.https("/debug/objects").body()).contains("\"db\"", "\"references\":1");
    }

    @Test
    void healthPort_loopback_hasAllOfTheComponentAndNothingOfThePods() throws Exception {
        for (String path : List.of("/configz", "/flagz")) {
            assertThat(served.health(path).body())
                    .as(path)
                    .isEqualTo(served.https(path).body());
        }
        assertThat(served.health("/statusz").body()).contains("podcache statusz");
        assertThat(served.health("/debug/objects").body()).contains("\"db\"", "\"references\":1");
        for (String path : List.of("/pods", "/ui", "/stats/summary", "/containerLogs/a/b/c")) {
            assertThat(served.health(path).statusCode()).as(path).isEqualTo(404);
        }
    }
}
