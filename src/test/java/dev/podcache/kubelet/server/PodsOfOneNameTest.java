package dev.podcache.kubelet.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.object.PodKey;
import dev.podcache.testing.PrometheusText;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Two pods of one name are on a node while one of them ends: a static pod and its successor, a pod that was deleted by force.
 * Where the kubelet's labels do not tell them apart, no series may appear twice, which the parser refuses.
 */
class PodsOfOneNameTest {

    private static final Instant NOW = Instant.parse("2026-07-01T12:00:00Z");
    private static final PodKey OLD = PodKey.of("shop", "web", "old");
    private static final PodKey NEW = PodKey.of("shop", "web", "new");
    private static final Map<String, String> MAIN = Map.of("container", "main", "namespace", "shop", "pod", "web");

    private static ProbeSeries probe(PodKey pod, long successes) {
        return new ProbeSeries(
                pod,
                "main",
                "Liveness",
                Map.of("successful", successes),
                ImmutableSortedMap.of(0.5, successes - 1, Double.POSITIVE_INFINITY, successes),
                successes * 0.5);
    }

    private static PodUsage usage(PodKey pod, Duration age, long memory) {
        Instant started = NOW.minus(age);
        return new PodUsage(
                pod, List.of(new ContainerUsage("main", NOW, started, Duration.ofSeconds(memory), memory, 0, 0, 0)));
    }

    @Test
    void probes_countsArePerPod_andTheirDurationsPerName() {
        PrometheusText text = PrometheusText.parse(ProbeSeries.text(List.of(probe(OLD, 7), probe(NEW, 3))));

        assertThat(total(text, "old")).isEqualTo(7);
        assertThat(total(text, "new")).isEqualTo(3);
        Map<String, String> labels =
                Map.of("container", "main", "namespace", "shop", "pod", "web", "probe_type", "Liveness");
        assertThat(text.value("prober_probe_duration_seconds_count", labels)).isEqualTo(10);
        assertThat(text.value("prober_probe_duration_seconds_sum", labels)).isEqualTo(5);
        assertThat(text.value(
                        "prober_probe_duration_seconds_bucket",
                        Map.of(
                                "container", "main",
                                "namespace", "shop",
                                "pod", "web",
                                "probe_type", "Liveness",
                                "le", "0.5")))
                .isEqualTo(8);
    }

    private static double total(PrometheusText text, String uid) {
        return text.value(
                "prober_probe_total",
                Map.of(
                        "container", "main",
                        "namespace", "shop",
                        "pod", "web",
                        "probe_type", "Liveness",
                        "pod_uid", uid,
                        "result", "successful"));
    }

    @Test
    void resource_isThatOfThePodWhoseContainerStartedLast() {
        for (List<PodUsage> pods : List.of(
                List.of(usage(OLD, Duration.ofHours(1), 100), usage(NEW, Duration.ofMinutes(1), 30)),
                List.of(usage(NEW, Duration.ofMinutes(1), 30), usage(OLD, Duration.ofHours(1), 100)))) {
            PrometheusText text = PrometheusText.parse(ResourceMetrics.of(new UsageTotals().add(pods, 0), pods, NOW));

            assertThat(text.value("container_memory_working_set_bytes", MAIN)).isEqualTo(30);
            assertThat(text.value("container_cpu_usage_seconds_total", MAIN)).isEqualTo(30);
            assertThat(text.value("pod_memory_working_set_bytes", Map.of("namespace", "shop", "pod", "web")))
                    .isEqualTo(30);
            assertThat(text.value("node_memory_working_set_bytes", Map.of())).isEqualTo(130);
        }
    }

    @Test
    void cadvisor_showsBothByTheirIds() {
        List<PodUsage> pods = List.of(usage(OLD, Duration.ofHours(1), 100), usage(NEW, Duration.ofMinutes(1), 30));

        PrometheusText text =
                PrometheusText.parse(CadvisorMetrics.of(new UsageTotals().add(pods, 0), pods, List.of(), NOW));

        assertThat(text.samples().stream()
                        .filter(sample -> sample.name().equals("container_memory_working_set_bytes"))
                        .filter(sample -> "main".equals(sample.labels().get("container"))))
                .hasSize(2);
    }

    /** A runtime may report anything. */
    @Test
    void container_isReportedTwiceByTheRuntime_firstIsShown() {
        ContainerUsage first =
                usage(NEW, Duration.ofMinutes(1), 30).containers().get(0);
        ContainerUsage second =
                usage(NEW, Duration.ofMinutes(1), 40).containers().get(0);
        List<PodUsage> pods = List.of(new PodUsage(NEW, List.of(first, second)));

        PrometheusText resource = PrometheusText.parse(ResourceMetrics.of(new UsageTotals().add(pods, 0), pods, NOW));
        PrometheusText.parse(CadvisorMetrics.of(new UsageTotals().add(pods, 0), pods, List.of(), NOW));

        assertThat(resource.value("container_memory_working_set_bytes", MAIN)).isEqualTo(30);
    }
}
