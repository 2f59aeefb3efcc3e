package dev.podcache.kubelet.server;

import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * {@code /metrics/resource}: what metrics-server reads, under the names of {@code
 * pkg/kubelet/metrics/collectors/resource_metrics.go}.
 */
final class ResourceMetrics {

    private static final int NANO_DIGITS = 9;

    private final StringBuilder text = new StringBuilder();

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
     * @param now the time of the sums
     */
    static String of(UsageTotals.Total node, List<PodUsage> pods, Instant now) {
        ResourceMetrics metrics = new ResourceMetrics();
        metrics.containers(pods);
        metrics.head(
                "node_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed by the node in core-seconds");
        metrics.line("node_cpu_usage_seconds_total", "", seconds(node.cpu()), now);
        metrics.head("node_memory_working_set_bytes", "gauge", "Current working set of the node in bytes");
        metrics.line("node_memory_working_set_bytes", "", Long.toString(node.workingSetBytes()), now);
        metrics.pods(pods, now);
        metrics.errors(0);
        return metrics.text.toString();
    }

    private void containers(List<PodUsage> pods) {
        head(
                "container_cpu_usage_seconds_total",
                "counter",
                "Cumulative cpu time consumed by the container in core-seconds");
        each(pods, "container_cpu_usage_seconds_total", container -> seconds(container.cpu()));
        head("container_memory_working_set_bytes", "gauge", "Current working set of the container in bytes");
        each(pods, "container_memory_working_set_bytes", container -> Long.toString(container.workingSetBytes()));
        head("container_start_time_seconds", "gauge", "Start time of the container since unix epoch in seconds");
        each(
                pods,
                "container_start_time_seconds",
                container -> seconds(Duration.between(Instant.EPOCH, container.startedAt())));
    }

    private void pods(List<PodUsage> pods, Instant now) {
        head("pod_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed by the pod in core-seconds");
        for (PodUsage pod : pods) {
            line(
                    "pod_cpu_usage_seconds_total",
                    labels(pod),
                    seconds(UsageTotals.Total.of(pod).cpu()),
                    now);
        }
        head("pod_memory_working_set_bytes", "gauge", "Current working set of the pod in bytes");
        for (PodUsage pod : pods) {
            line(
                    "pod_memory_working_set_bytes",
                    labels(pod),
                    Long.toString(UsageTotals.Total.of(pod).workingSetBytes()),
                    now);
        }
    }

    private void errors(int error) {
        for (String name : List.of("resource_scrape_error", "scrape_error")) {
            head(name, "gauge", "1 if there was an error while getting container metrics, 0 otherwise");
            text.append(name).append(' ').append(error).append('\n');
        }
    }

    private interface ContainerMeasure {
        String of(ContainerUsage container);
    }

    private void each(List<PodUsage> pods, String name, ContainerMeasure measure) {
        for (PodUsage pod : pods) {
            for (ContainerUsage container : pod.containers()) {
                String labels = "{container=\"" + escaped(container.name()) + "\","
                        + labels(pod).substring(1);
                line(name, labels, measure.of(container), container.measuredAt());
            }
        }
    }

    private static String labels(PodUsage pod) {
        return "{namespace=\"" + escaped(pod.pod().namespace()) + "\",pod=\""
                + escaped(pod.pod().name()) + "\"}";
    }

    /** A runtime may report any text; it must not end the label. */
    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    private void head(String name, String type, String help) {
        text.append("# HELP ").append(name).append(' ').append(help).append('\n');
        text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    }

    private void line(String name, String labels, String value, Instant time) {
        text.append(name)
                .append(labels)
                .append(' ')
                .append(value)
                .append(' ')
                .append(time.toEpochMilli())
                .append('\n');
    }

    private static String seconds(Duration duration) {
        return BigDecimal.valueOf(duration.getSeconds())
                .add(BigDecimal.valueOf(duration.getNano(), NANO_DIGITS))
                .stripTrailingZeros()
                .toPlainString();
    }
}
