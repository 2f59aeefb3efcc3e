package dev.podcache.kubelet.server;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Iterables;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * {@code /metrics/cadvisor}: what containers use, under the names and labels of cAdvisor's {@code metrics/prometheus.go},
 * with {@code container}, {@code namespace} and {@code pod} as a kubelet adds them. Each container has a line, each pod one
 * without a container and an image, and the node one with the id {@code /}. What the runtime does not measure is not there:
 * network, disk requests, throttling, swap.
 */
final class CadvisorMetrics {

    private static final long CPU_PERIOD = 100_000;
    /** A manifest may have any number. */
    private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);

    private static final int LEAST_SHARES = 2;
    private static final int MOST_SHARES = 262_144;

    private final MetricsText text = new MetricsText();
    private final List<Row> rows = new ArrayList<>();

    /** A container, a pod or the node. */
    private record Row(
            ImmutableMap<String, String> labels,
            UsageTotals.Total used,
            Instant measuredAt,
            @Nullable ContainerUsage usage,
            @Nullable Container spec) {}

    private CadvisorMetrics() {}

    /**
     * Returns the metrics of a node.
     *
     * @param pods the pods of the node, from which images and limits come
     * @param now the time of the sums
     */
    static String of(UsageTotals.Total node, List<PodUsage> usages, List<Pod> pods, Instant now) {
        CadvisorMetrics metrics = new CadvisorMetrics();
        metrics.rows.add(new Row(labels("", "/", "", "", "", ""), node, now, null, null));
        Map<String, Pod> known = new HashMap<>();
        pods.forEach(pod -> known.put(pod.getMetadata().getUid(), pod));
        for (PodUsage usage : usages) {
            metrics.add(usage, Optional.ofNullable(known.get(usage.pod().uid())), now);
        }
        metrics.write();
        return metrics.text.toString();
    }

    private void add(PodUsage usage, Optional<Pod> pod, Instant now) {
        String id = "/kubepods/pod" + usage.pod().uid();
        rows.add(new Row(
                labels("", id, "", "", usage.pod().namespace(), usage.pod().name()),
                UsageTotals.Total.of(usage),
                now,
                null,
                null));
        for (ContainerUsage container : usage.containers()) {
            Optional<ContainerStatus> status = pod.flatMap(each -> status(each, container.name()));
            Optional<Container> spec = pod.flatMap(each -> spec(each, container.name()));
            // a container that was started again has other counters, so it needs another id
            String name = status.map(each -> Strings.nullToEmpty(each.getContainerID()))
                    .map(each -> each.substring(each.lastIndexOf('/') + 1))
                    .filter(each -> !each.isEmpty())
                    .orElse(container.name() + "-" + container.startedAt().getEpochSecond());
            String image = status.map(each -> Strings.nullToEmpty(each.getImage()))
                    .filter(each -> !each.isEmpty())
                    .or(() -> spec.map(each -> Strings.nullToEmpty(each.getImage())))
                    .filter(each -> !each.isEmpty())
                    // dashboards leave out what has no image
                    .orElse("unknown");
            rows.add(new Row(
                    labels(
                            container.name(),
                            id + "/" + name,
                            image,
                            name,
                            usage.pod().namespace(),
                            usage.pod().name()),
                    UsageTotals.Total.of(new PodUsage(usage.pod(), List.of(container))),
                    container.measuredAt(),
                    container,
                    spec.orElse(null)));
        }
    }

    private static Optional<ContainerStatus> status(Pod pod, String container) {
        return pod.getStatus() == null
                ? Optional.empty()
                : Iterables.tryFind(
                                Iterables.concat(
                                        pod.getStatus().getContainerStatuses(),
                                        pod.getStatus().getInitContainerStatuses(),
                                        pod.getStatus().getEphemeralContainerStatuses()),
                                each -> container.equals(each.getName()))
                        .toJavaUtil();
    }

    private static Optional<Container> spec(Pod pod, String container) {
        return Iterables.tryFind(
                        Iterables.concat(
                                pod.getSpec().getContainers(), pod.getSpec().getInitContainers()),
                        each -> container.equals(each.getName()))
                .toJavaUtil();
    }

    private static ImmutableMap<String, String> labels(
            String container, String id, String image, String name, String namespace, String pod) {
        return ImmutableMap.<String, String>builder()
                .put("container", container)
                .put("id", id)
                .put("image", image)
                .put("name", name)
                .put("namespace", namespace)
                .put("pod", pod)
                .buildOrThrow();
    }

    private void write() {
        String cpu = "container_cpu_usage_seconds_total";
        text.head(cpu, "counter", "Cumulative cpu time consumed in seconds.");
        for (Row row : rows) {
            ImmutableMap<String, String> labels = ImmutableMap.<String, String>builder()
                    .put("container", Strings.nullToEmpty(row.labels().get("container")))
                    .put("cpu", "total")
                    .putAll(withoutContainer(row.labels()))
                    .buildOrThrow();
            text.sample(cpu, labels, MetricsText.seconds(row.used().cpu()), row.measuredAt());
        }
        used("container_memory_working_set_bytes", "Current working set in bytes.", UsageTotals.Total::workingSetBytes);
        used("container_memory_rss", "Size of RSS in bytes.", UsageTotals.Total::rssBytes);
        used(
                "container_memory_cache",
                "Number of bytes of page cache memory, as far as the working set has it.",
                total -> Math.max(0, total.workingSetBytes() - total.rssBytes()));
        used(
                "container_memory_usage_bytes",
                "Current memory usage in bytes: the working set, because what can be reclaimed is not measured.",
                UsageTotals.Total::workingSetBytes);
        used(
                "container_fs_usage_bytes",
                "Number of bytes that are consumed on the filesystem.",
                UsageTotals.Total::diskBytes);
        ofContainers(
                "container_start_time_seconds",
                "Start time of the container since unix epoch in seconds.",
                row -> row.usage() == null
                        ? null
                        : MetricsText.seconds(row.usage().startedAt()));
        ofContainers(
                "container_last_seen",
                "Last time a container was seen by the exporter",
                row -> row.usage() == null
                        ? null
                        : MetricsText.seconds(row.usage().measuredAt()));
        ofContainers(
                "container_spec_memory_limit_bytes",
                "Memory limit for the container.",
                row -> row.spec() == null
                        ? null
                        : limit(row.spec(), "memory")
                                .map(bytes -> bytes.toBigInteger().toString())
                                .orElse("0"));
        ofContainers(
                "container_spec_cpu_period",
                "CPU period of the container.",
                row -> limit(row.spec(), "cpu")
                        .map(cores -> Long.toString(CPU_PERIOD))
                        .orElse(null));
        ofContainers(
                "container_spec_cpu_quota",
                "CPU quota of the container.",
                row -> limit(row.spec(), "cpu")
                        .map(cores -> cores.multiply(BigDecimal.valueOf(CPU_PERIOD))
                                .toBigInteger()
                                .toString())
                        .orElse(null));
        ofContainers(
                "container_spec_cpu_shares",
                "CPU share of the container.",
                row -> row.spec() == null ? null : Integer.toString(shares(row.spec())));
        scrapeError(text, 0);
    }

    /** Returns the metrics of a node that could not be measured. */
    static String failed() {
        MetricsText text = new MetricsText();
        scrapeError(text, 1);
        return text.toString();
    }

    private static void scrapeError(MetricsText text, int error) {
        String name = "container_scrape_error";
        text.head(name, "gauge", "1 if there was an error while getting container metrics, 0 otherwise");
        text.sample(name, Map.of(), Integer.toString(error), null);
    }

    private static Map<String, String> withoutContainer(ImmutableMap<String, String> labels) {
        Map<String, String> rest = new LinkedHashMap<>(labels);
        rest.remove("container");
        return rest;
    }

    private void used(String name, String help, Function<UsageTotals.Total, Long> measure) {
        text.head(name, "gauge", help);
        rows.forEach(
                row -> text.sample(name, row.labels(), measure.apply(row.used()).toString(), row.measuredAt()));
    }

    private void ofContainers(String name, String help, Function<Row, @Nullable String> measure) {
        text.head(name, "gauge", help);
        for (Row row : rows) {
            String value = row.usage() == null ? null : measure.apply(row);
            if (value != null) {
                text.sample(name, row.labels(), value, row.measuredAt());
            }
        }
    }

    private static Optional<BigDecimal> limit(@Nullable Container spec, String resource) {
        if (spec == null || spec.getResources() == null || spec.getResources().getLimits() == null) {
            return Optional.empty();
        }
        return amount(spec.getResources().getLimits().get(resource));
    }

    private static Optional<BigDecimal> amount(@Nullable Quantity quantity) {
        return quantity == null
                ? Optional.empty()
                : Optional.of(quantity.getNumericalAmount().min(MOST));
    }

    /** After {@code MilliCPUToShares} of {@code pkg/kubelet/cm/helpers_linux.go}: of the request, else of the limit. */
    private static int shares(Container spec) {
        Optional<BigDecimal> request =
                spec.getResources() == null || spec.getResources().getRequests() == null
                        ? Optional.empty()
                        : amount(spec.getResources().getRequests().get("cpu"));
        BigDecimal cores = request.or(() -> limit(spec, "cpu")).orElse(BigDecimal.ZERO);
        BigDecimal shares = cores.multiply(BigDecimal.valueOf(1024))
                .max(BigDecimal.valueOf(LEAST_SHARES))
                .min(BigDecimal.valueOf(MOST_SHARES));
        return shares.intValue();
    }
}
