package dev.podcache.micrometer;

import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.agent.NodeCounts;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/**
 * Shows what a {@link NodeAgent} does as Micrometer meters; {@link PodcacheMeterBinder} shows its caches. Thread-safe.
 *
 * <table>
 * <caption>Meters, each with the given tags</caption>
 * <tr><th>meter</th><th>tags</th><th>what it is</th></tr>
 * <tr><td>{@code podcache.node.registered}</td><td></td><td>1 if the Node is registered, else 0</td></tr>
 * <tr><td>{@code podcache.node.lease.age}</td><td></td><td>seconds since the Lease was renewed; NaN if it never
 * was</td></tr>
 * <tr><td>{@code podcache.node.lease.renewals}</td><td>{@code outcome}</td><td>{@link
 * NodeCounts#leaseRenewals}</td></tr>
 * <tr><td>{@code podcache.node.status.updates}</td><td>{@code outcome}</td><td>{@link
 * NodeCounts#nodeStatusUpdates}</td></tr>
 * <tr><td>{@code podcache.pod.status.patches}</td><td>{@code outcome}</td><td>{@link
 * NodeCounts#podStatusPatches}</td></tr>
 * <tr><td>{@code kubelet.running.pods}</td><td></td><td>{@link NodeCounts#runningPods}</td></tr>
 * <tr><td>{@code kubelet.running.containers}</td><td>{@code container.state}: {@code running}, {@code
 * exited}</td><td>{@link NodeCounts#runningContainers}, {@link NodeCounts#exitedContainers}</td></tr>
 * <tr><td>{@code prober.probe}</td><td>{@code probe.type}, {@code result}</td><td>{@link NodeCounts#probes}</td></tr>
 * <tr><td>{@code kubelet.evictions}</td><td>{@code eviction.signal}</td><td>{@link
 * NodeCounts#evictions}</td></tr>
 * </table>
 *
 * <p>Meters that a kubelet has, too, have its names and labels, but never the names of namespaces, pods and containers.
 * The meters refer to the agent weakly: keep a reference to it until you close it.
 */
public final class NodeMeterBinder implements MeterBinder {

    private final NodeAgent agent;
    private final Tags tags;

    /**
     * Makes a binder; {@link #bindTo} adds the meters to a registry.
     *
     * @param tags for all meters, which tell the agents of a process apart
     */
    public NodeMeterBinder(NodeAgent agent, Iterable<Tag> tags) {
        this.agent = Objects.requireNonNull(agent, "agent");
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        SourceMeters<NodeAgent> meters = new SourceMeters<>(agent, tags, registry);
        meters.gauge(
                "podcache.node.registered",
                null,
                "Whether the Node is registered",
                each -> each.status().registered() ? 1 : 0);
        meters.gauge(
                "podcache.node.lease.age",
                "seconds",
                "Time since the Lease of the Node was renewed",
                NodeMeterBinder::leaseAge);
        meters.counters(
                "podcache.node.lease.renewals",
                "outcome",
                "Requests that renew the Lease",
                each -> each.counts().leaseRenewals());
        meters.counters(
                "podcache.node.status.updates",
                "outcome",
                "Requests that report the status of the Node",
                each -> each.counts().nodeStatusUpdates());
        meters.counters(
                "podcache.pod.status.patches",
                "outcome",
                "Requests that report the status of a pod",
                each -> each.counts().podStatusPatches());
        bindPods(meters);
        bindProbes(meters);
    }

    private static void bindPods(SourceMeters<NodeAgent> meters) {
        meters.gauge(
                "kubelet.running.pods",
                null,
                "Pods of which a container runs",
                each -> each.counts().runningPods());
        String containers = "Containers by state";
        meters.with("container.state", "running")
                .gauge(
                        "kubelet.running.containers",
                        null,
                        containers,
                        each -> each.counts().runningContainers());
        meters.with("container.state", "exited")
                .gauge(
                        "kubelet.running.containers",
                        null,
                        containers,
                        each -> each.counts().exitedContainers());
        meters.counters(
                "kubelet.evictions",
                "eviction.signal",
                "Evicted pods",
                each -> each.counts().evictions());
    }

    private static void bindProbes(SourceMeters<NodeAgent> meters) {
        for (String probe : meters.source().counts().probes().keySet()) {
            meters.with("probe.type", probe)
                    .counters(
                            "prober.probe",
                            "result",
                            "Checks of containers",
                            each -> each.counts().probes().getOrDefault(probe, Map.of()));
        }
    }

    private static double leaseAge(NodeAgent agent) {
        return agent.sinceRenewal()
                .map(Duration::toMillis)
                .map(millis -> millis / 1000.0)
                .orElse(Double.NaN);
    }
}
