package dev.podcache.kubelet.server;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.object.PodKey;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What the checks of one probe have shown since its pod came to the node, for {@code /metrics/probes}. Immutable.
 *
 * @param type such as {@code Liveness}
 * @param results how many checks have ended, by result
 * @param durations for each upper bound in seconds, how many checks took at most so long; the last bound is infinite
 * @param seconds that all checks took
 */
public record ProbeSeries(
        PodKey pod,
        String container,
        String type,
        Map<String, Long> results,
        SortedMap<Double, Long> durations,
        double seconds) {

    public ProbeSeries {
        results = ImmutableMap.copyOf(results);
        durations = ImmutableSortedMap.copyOfSorted(durations);
    }

    /**
     * Returns {@code /metrics/probes}, under the names and labels of {@code pkg/kubelet/prober} of Kubernetes: {@code
     * prober_probe_total}, which has the pod's UID, and {@code prober_probe_duration_seconds}, which has not.
     */
    static String text(List<ProbeSeries> all) {
        MetricsText text = new MetricsText();
        String total = "prober_probe_total";
        text.head(
                total,
                "counter",
                "Cumulative number of a liveness, readiness or startup probe for a container by result.");
        for (ProbeSeries each : all) {
            each.results.forEach((result, count) -> text.sample(
                    total,
                    ImmutableMap.<String, String>builder()
                            .putAll(each.labels())
                            .put("pod_uid", each.pod.uid())
                            .put("result", result)
                            .buildOrThrow(),
                    count.toString(),
                    null));
        }
        String duration = "prober_probe_duration_seconds";
        text.head(duration, "histogram", "Duration in seconds for a probe response.");
        durationsByLabels(all).forEach((labels, each) -> {
            each.durations.forEach((bound, count) -> text.sample(
                    duration + "_bucket",
                    ImmutableMap.<String, String>builder()
                            .putAll(labels)
                            .put("le", bound.isInfinite() ? "+Inf" : bound.toString())
                            .buildOrThrow(),
                    count.toString(),
                    null));
            text.sample(duration + "_sum", labels, Double.toString(each.seconds), null);
            // they are cumulative
            long count = each.durations.values().stream()
                    .mapToLong(Long::longValue)
                    .max()
                    .orElse(0);
            text.sample(duration + "_count", labels, Long.toString(count), null);
        });
        return text.toString();
    }

    /** The durations have no UID: those of pods of one name are one series, as they are in the kubelet. */
    private static Map<ImmutableMap<String, String>, ProbeSeries> durationsByLabels(List<ProbeSeries> all) {
        Map<ImmutableMap<String, String>, ProbeSeries> byLabels = new LinkedHashMap<>();
        all.forEach(each -> byLabels.merge(each.labels(), each, ProbeSeries::withDurationsOf));
        return byLabels;
    }

    private ProbeSeries withDurationsOf(ProbeSeries other) {
        SortedMap<Double, Long> sums = new TreeMap<>(durations);
        other.durations.forEach((bound, count) -> sums.merge(bound, count, Long::sum));
        return new ProbeSeries(pod, container, type, results, sums, seconds + other.seconds);
    }

    private ImmutableMap<String, String> labels() {
        return ImmutableMap.of(
                "container", container, "namespace", pod.namespace(), "pod", pod.name(), "probe_type", type);
    }
}
