package dev.podcache.kubelet.server;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.time.ApiTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * {@code /stats/summary}: the {@code Summary} of {@code k8s.io/kubelet/pkg/apis/stats/v1alpha1}, with the fields that
 * {@code ContainerStatistics} measures. Rates are left out, because they need two measurements.
 */
final class StatsSummary {

    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

    private final String time;
    private final boolean withDisk;

    private StatsSummary(Instant now, boolean withDisk) {
        this.time = ApiTime.of(now);
        this.withDisk = withDisk;
    }

    /** What a summary is about. Immutable. */
    record SummaryScope(String node, Instant startedAt, boolean onlyCpuAndMemory) {}

    /** Returns the summary of a node. */
    static ObjectNode of(SummaryScope scope, UsageTotals.Total node, List<PodUsage> pods, Instant now) {
        StatsSummary summary = new StatsSummary(now, !scope.onlyCpuAndMemory());
        ObjectNode json = JSON.objectNode();
        ObjectNode nodeJson = json.putObject("node");
        nodeJson.put("nodeName", scope.node());
        nodeJson.put("startTime", ApiTime.of(scope.startedAt()));
        summary.totals(nodeJson, node);
        for (PodUsage pod : pods) {
            json.withArray("/pods").add(summary.pod(pod));
        }
        if (pods.isEmpty()) {
            json.putArray("pods");
        }
        return json;
    }

    private ObjectNode pod(PodUsage pod) {
        ObjectNode json = JSON.objectNode();
        json.putObject("podRef")
                .put("name", pod.pod().name())
                .put("namespace", pod.pod().namespace())
                .put("uid", pod.pod().uid());
        pod.containers().stream()
                .map(ContainerUsage::startedAt)
                .min(Instant::compareTo)
                .ifPresent(start -> json.put("startTime", ApiTime.of(start)));
        var containers = json.putArray("containers");
        pod.containers().forEach(container -> containers.add(container(container)));
        UsageTotals.Total total = UsageTotals.Total.of(pod);
        totals(json, total);
        if (withDisk) {
            json.putObject("ephemeral-storage").put("time", time).put("usedBytes", total.diskBytes());
        }
        return json;
    }

    private ObjectNode container(ContainerUsage container) {
        String measured = ApiTime.of(container.measuredAt());
        ObjectNode json = JSON.objectNode();
        json.put("name", container.name());
        json.put("startTime", ApiTime.of(container.startedAt()));
        cpu(json, measured, container.cpu());
        memory(json, measured, container.workingSetBytes(), container.rssBytes());
        if (withDisk) {
            json.putObject("rootfs").put("time", measured).put("usedBytes", container.diskBytes());
            json.putObject("logs").put("time", measured).put("usedBytes", container.logBytes());
        }
        return json;
    }

    private void totals(ObjectNode json, UsageTotals.Total total) {
        cpu(json, time, total.cpu());
        memory(json, time, total.workingSetBytes(), total.rssBytes());
    }

    private static void cpu(ObjectNode json, String measured, Duration cpu) {
        json.putObject("cpu").put("time", measured).put("usageCoreNanoSeconds", cpu.toNanos());
    }

    private static void memory(ObjectNode json, String measured, long workingSet, long rss) {
        json.putObject("memory")
                .put("time", measured)
                .put("workingSetBytes", workingSet)
                .put("rssBytes", rss);
    }
}
