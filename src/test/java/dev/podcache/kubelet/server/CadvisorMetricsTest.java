package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.object.PodKey;
import dev.podcache.testing.PrometheusText;
import dev.podcache.testing.PrometheusText.MetricLine;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@NullUnmarked
class CadvisorMetricsTest {

    private static final Instant NOW = Instant.parse("2026-07-01T12:00:00Z");
    private static final Duration BETWEEN_SCRAPES = Duration.ofSeconds(300);

    /** What Prometheus knows of the target that it scrapes. */
    private static final Map<String, String> TARGET =
            Map.of("job", "kubelet", "metrics_path", "/metrics/cadvisor", "cluster", "", "node", "worker-1");

    private static ContainerUsage used(String name, Instant at, Duration cpu) {
        return new ContainerUsage(name, at, NOW.minusSeconds(60), cpu, 3_000_000, 2_000_000, 70, 30);
    }

    private static Pod pod(String uid) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("web-" + uid)
                .withUid(uid)
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName("main")
                .withImage("nginx")
                .withNewResources()
                .addToLimits("memory", new Quantity("64Mi"))
                .addToLimits("cpu", new Quantity("1500m"))
                .addToRequests("cpu", new Quantity("500m"))
                .endResources()
                .endContainer()
                .addNewContainer()
                .withName("side \"car\"\n")
                .withImage("proxy:1")
                .endContainer()
                .endSpec()
                .withNewStatus()
                .addNewContainerStatus()
                .withName("main")
                .withImage("docker.io/library/nginx:1.27")
                .withContainerID("containerd://abc")
                .endContainerStatus()
                .endStatus()
                .build();
    }

    private static PrometheusText scrape(Instant at, Duration cpu, Pod... pods) {
        List<PodUsage> usages = List.of(pods).stream()
                .map(pod -> new PodUsage(
                        PodKey.of(
                                "shop",
                                pod.getMetadata().getName(),
                                pod.getMetadata().getUid()),
                        List.of(used("main", at, cpu), used("side \"car\"\n", at, cpu.multipliedBy(2)))))
                .toList();
        return PrometheusText.parse(CadvisorMetrics.of(new UsageTotals().add(usages, 0), usages, List.of(pods), at));
    }

    /**
     * Evaluates {@code sum(SELECTOR) by (LABELS)}, in which the selector may stand in {@code rate(...[5m])}: the values by
     * their labels. Prometheus' own grammar, as far as these queries use it.
     */
    private static Map<String, Double> query(String query, PrometheusText before, PrometheusText after) {
        Matcher parsed = Pattern.compile("sum\\((rate\\()?(\\w+)\\{([^}]*)\\}(?:\\[5m\\]\\))?\\) by \\(([^)]*)\\)")
                .matcher(query);
        assertThat(parsed.matches()).as(query).isTrue();
        Map<String, Double> now = sum(parsed, after);
        if (parsed.group(1) == null) {
            return now;
        }
        Map<String, Double> then = sum(parsed, before);
        now.replaceAll((labels, value) -> (value - then.getOrDefault(labels, 0.0)) / BETWEEN_SCRAPES.toSeconds());
        return now;
    }

    private static Map<String, Double> sum(Matcher parsed, PrometheusText scrape) {
        Map<String, Double> sums = new TreeMap<>();
        for (MetricLine line : scrape.samples()) {
            Map<String, String> labels = ImmutableMap.<String, String>builder()
                    .putAll(TARGET)
                    .putAll(line.labels())
                    .buildOrThrow();
            if (line.name().equals(parsed.group(2)) && matches(parsed.group(3), labels)) {
                String key = List.of(parsed.group(4).split(", ")).stream()
                        .map(label -> labels.getOrDefault(label, ""))
                        .collect(Collectors.joining("/"));
                sums.merge(key, line.value(), Double::sum);
            }
        }
        return sums;
    }

    private static boolean matches(String matchers, Map<String, String> labels) {
        return Pattern.compile("(\\w+)(=|!=)\"([^\"]*)\"")
                .matcher(matchers)
                .results()
                .allMatch(matcher -> labels.getOrDefault(matcher.group(1), "").equals(matcher.group(3))
                        == matcher.group(2).equals("="));
    }

    /** Queries and recording rules of kubernetes-mixin's dashboard "Compute Resources / Pod", with its variables filled in. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "sum(rate(container_cpu_usage_seconds_total{job=\"kubelet\", metrics_path=\"/metrics/cadvisor\", image!=\"\"}[5m])) by (cluster, namespace, pod, container) | /shop/web-1/main | 0.5",
                "sum(container_memory_working_set_bytes{job=\"kubelet\", metrics_path=\"/metrics/cadvisor\", cluster=\"\", namespace=\"shop\", pod=\"web-1\", container!=\"\", image!=\"\"}) by (container) | main | 3000000",
                "sum(container_memory_rss{job=\"kubelet\", metrics_path=\"/metrics/cadvisor\", cluster=\"\", namespace=\"shop\", pod=\"web-1\", container!=\"\"}) by (container) | main | 2000000",
                "sum(container_memory_cache{job=\"kubelet\", metrics_path=\"/metrics/cadvisor\", cluster=\"\", namespace=\"shop\", pod=\"web-1\", container!=\"\"}) by (container) | main | 1000000",
                "sum(container_memory_working_set_bytes{job=\"kubelet\", metrics_path=\"/metrics/cadvisor\", cluster=\"\", namespace=\"shop\", container!=\"\", image!=\"\"}) by (pod) | web-1 | 6000000",
                "sum(container_fs_usage_bytes{job=\"kubelet\", metrics_path=\"/metrics/cadvisor\", container!=\"\"}) by (namespace, pod) | shop/web-1 | 200",
                "sum(container_spec_memory_limit_bytes{namespace=\"shop\", pod=\"web-1\", container!=\"\"}) by (container) | main | 67108864",
                "sum(container_spec_cpu_quota{namespace=\"shop\", pod=\"web-1\", container!=\"\"}) by (container) | main | 150000",
                "sum(container_memory_working_set_bytes{id=\"/\"}) by (node) | worker-1 | 12000000"
            })
    void query_ofADashboard_returnsItsValue(String query, String labels, double value) {
        PrometheusText before = scrape(NOW, Duration.ofSeconds(100), pod("1"), pod("2"));
        PrometheusText after = scrape(NOW.plus(BETWEEN_SCRAPES), Duration.ofSeconds(250), pod("1"), pod("2"));

        assertThat(query(query, before, after))
                .hasEntrySatisfying(labels, sum -> assertThat(sum).isCloseTo(value, within(1e-6)));
    }

    @Test
    void container_hasTheLabelsOfCadvisor() {
        PrometheusText scraped = scrape(NOW, Duration.ofMillis(1500), pod("1"));

        assertThat(scraped.value(
                        "container_cpu_usage_seconds_total",
                        Map.of(
                                "container", "main",
                                "cpu", "total",
                                "id", "/kubepods/pod1/abc",
                                "image", "docker.io/library/nginx:1.27",
                                "name", "abc",
                                "namespace", "shop",
                                "pod", "web-1")))
                .isEqualTo(1.5);
        assertThat(scraped.value("container_start_time_seconds", labels(scraped, "main")))
                .isEqualTo((double) NOW.minusSeconds(60).getEpochSecond());
        assertThat(scraped.value("container_spec_cpu_shares", labels(scraped, "main")))
                .isEqualTo(512);
    }

    private static Map<String, String> labels(PrometheusText scraped, String container) {
        return scraped.samples().stream()
                .filter(line -> line.name().equals("container_memory_rss"))
                .map(MetricLine::labels)
                .filter(labels -> labels.get("container").equals(container))
                .findFirst()
                .orElseThrow();
    }

    /** The API server has no status of it yet, or the pod is gone from the agent's list. */
    @Test
    void container_withoutStatus_hasAnImageAndAnIdOfItsStart() {
        PrometheusText scraped = scrape(NOW, Duration.ZERO, pod("1"));

        assertThat(labels(scraped, "side \"car\"\n"))
                .containsEntry("image", "proxy:1")
                .containsEntry("name", "side \"car\"\n-" + NOW.minusSeconds(60).getEpochSecond());
    }

    @Test
    void container_ofAnUnknownPod_isStillShown() {
        List<PodUsage> usages =
                List.of(new PodUsage(PodKey.of("shop", "gone", "9"), List.of(used("main", NOW, Duration.ZERO))));

        PrometheusText scraped =
                PrometheusText.parse(CadvisorMetrics.of(new UsageTotals().add(usages, 0), usages, List.of(), NOW));

        assertThat(labels(scraped, "main")).containsEntry("image", "unknown").containsEntry("pod", "gone");
        assertThat(scraped.names()).doesNotContain("container_spec_memory_limit_bytes");
    }

    @ParameterizedTest
    @CsvSource({"1e999999999", "9223372036854775808", "1Ei"})
    void limit_ofAnySize_isANumber(String memory) {
        Pod large = new PodBuilder(pod("1"))
                .editSpec()
                .editFirstContainer()
                .editResources()
                .addToLimits("memory", new Quantity(memory))
                .endResources()
                .endContainer()
                .endSpec()
                .build();

        PrometheusText scraped = scrape(NOW, Duration.ZERO, large);

        assertThat(scraped.value("container_spec_memory_limit_bytes", labels(scraped, "main")))
                .isPositive()
                .isLessThan(1e19);
    }
}
