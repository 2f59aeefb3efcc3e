package dev.podcache.kubelet.server;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * {@code /metrics/resource}: what metrics-server reads, under the names of {@code
 * pkg/kubelet/metrics/collectors/resource_metrics.go}.
 */
final class ResourceMetrics {

    private final MetricsText text = new MetricsText();

    private ResourceMetrics() {}

    /** Returns the metrics of a node that could not be measured. */
    static String failed() {
        ResourceMetrics metrics = new ResourceMetrics();
        metrics.errors(1);
        return metrics.text.toString();
    }

    /**
     * Returns the metrics of a node.
     *
     * @param all the labels tell pods of one name not apart: of them, the one is shown whose container started last, as the
     *     kubelet shows the one that runs
     * @param now the time of the sums
     */
    static String of(UsageTotals.Total node, List<PodUsage> all, Instant now) {
        ResourceMetrics metrics = new ResourceMetrics();
        List<PodUsage> pods = newestOfEachName(all);
        metrics.containers(pods);
        metrics.node(
                "node_cpu_usage_seconds_total",
                "counter",
                "Cumulative cpu time consumed by the node in core-seconds",
                MetricsText.seconds(node.cpu()),
                now);
        metrics.node(
                "node_memory_working_set_bytes",
                "gauge",
                "Current working set of the node in bytes",
                Long.toString(node.workingSetBytes()),
                now);
        metrics.pods(pods, now);
        metrics.errors(0);
        return metrics.text.toString();
    }

    private static List<PodUsage> newestOfEachName(List<PodUsage> pods) {
        Map<Map<String, String>, PodUsage> newest = new LinkedHashMap<>();
        for (PodUsage pod : pods) {
            newest.merge(
                    labels(pod).buildOrThrow(),
                    pod,
                    (one, other) -> lastStart(other).isAfter(lastStart(one)) ? other : one);
        }
        return List.copyOf(newest.values());
    }

    private static Instant lastStart(PodUsage pod) {
        return pod.containers().stream()
                .map(ContainerUsage::startedAt)
                .max(Comparator.naturalOrder())
                .orElse(Instant.MIN);
    }

    private void node(String name, String type, String help, String value, Instant now) {
        text.head(name, type, help);
        text.sample(name, Map.of(), value, now);
    }

    private void containers(List<PodUsage> pods) {
        each(
                pods,
                "container_cpu_usage_seconds_total",
                "counter",
                "Cumulative cpu time consumed by the container in core-seconds",
                container -> MetricsText.seconds(container.cpu()));
        each(
                pods,
                "container_memory_working_set_bytes",
                "gauge",
                "Current working set of the container in bytes",
                container -> Long.toString(container.workingSetBytes()));
        each(
                pods,
                "container_start_time_seconds",
                "gauge",
                "Start time of the container since unix epoch in seconds",
                container -> MetricsText.seconds(container.startedAt()));
    }

    private void pods(List<PodUsage> pods, Instant now) {
        text.head("pod_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed by the pod in core-seconds");
        for (PodUsage pod : pods) {
            text.sample(
                    "pod_cpu_usage_seconds_total",
                    labels(pod).buildOrThrow(),
                    MetricsText.seconds(UsageTotals.Total.of(pod).cpu()),
                    now);
        }
        text.head("pod_memory_working_set_bytes", "gauge", "Current working set of the pod in bytes");
        for (PodUsage pod : pods) {
            text.sample(
                    "pod_memory_working_set_bytes",
                    labels(pod).buildOrThrow(),
                    Long.toString(UsageTotals.Total.of(pod).workingSetBytes()),
                    now);
        }
    }

    private void errors(int error) {
        for (String name : List.of("resource_scrape_error", "scrape_error")) {
            text.head(name, "gauge", "1 if there was an error while getting container metrics, 0 otherwise");
            text.sample(name, Map.of(), Integer.toString(error), null);
        }
    }

    private void each(
            List<PodUsage> pods, String name, String type, String help, Function<ContainerUsage, String> measure) {
        text.head(name, type, help);
        for (PodUsage pod : pods) {
            for (ContainerUsage container : pod.containers()) {
                ImmutableMap<String, String> labels = ImmutableMap.<String, String>builder()
                        .put("container", container.name())
                        .putAll(labels(pod).buildOrThrow())
                        .buildOrThrow();
                text.sample(name, labels, measure.apply(container), container.measuredAt());
            }
        }
    }

    private static ImmutableMap.Builder<String, String> labels(PodUsage pod) {
        return ImmutableMap.<String, String>builder()
                .put("namespace", pod.pod().namespace())
                .put("pod", pod.pod().name());
    }
}
