package dev.podcache.micrometer;

import dev.podcache.kubelet.agent.NodeAgent;
import dev.podcache.kubelet.agent.NodeCounts;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

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
        gauge(
                registry,
                "podcache.node.registered",
                Tags.empty(),
                "Whether the Node is registered",
                each -> each.status().registered() ? 1 : 0);
        Gauge.builder("podcache.node.lease.age", agent, NodeMeterBinder::leaseAge)
                .tags(tags)
                .description("Time since the Lease of the Node was renewed")
                .baseUnit("seconds")
                .register(registry);
        outcomes(registry, "podcache.node.lease.renewals", "Requests that renew the Lease", NodeCounts::leaseRenewals);
        outcomes(
                registry,
                "podcache.node.status.updates",
                "Requests that report the status of the Node",
                NodeCounts::nodeStatusUpdates);
        outcomes(
                registry,
                "podcache.pod.status.patches",
                "Requests that report the status of a pod",
                NodeCounts::podStatusPatches);
        bindPods(registry);
        bindProbes(registry);
    }

    private void bindPods(MeterRegistry registry) {
        gauge(
                registry,
                "kubelet.running.pods",
                Tags.empty(),
                "Pods of which a container runs",
                each -> each.counts().runningPods());
        String containers = "Containers by state";
        gauge(
                registry,
                "kubelet.running.containers",
                Tags.of("container.state", "running"),
                containers,
                each -> each.counts().runningContainers());
        gauge(
                registry,
                "kubelet.running.containers",
                Tags.of("container.state", "exited"),
                containers,
                each -> each.counts().exitedContainers());
        agent.counts()
                .evictions()
                .keySet()
                .forEach(signal -> counter(
                        registry,
                        "kubelet.evictions",
                        Tags.of("eviction.signal", signal),
                        "Evicted pods",
                        counts -> counts.evictions().getOrDefault(signal, 0L)));
    }

    private void bindProbes(MeterRegistry registry) {
        agent.counts()
                .probes()
                .forEach((probe, results) -> results.keySet()
                        .forEach(result -> counter(
                                registry,
                                "prober.probe",
                                Tags.of("probe.type", probe, "result", result),
                                "Checks of containers",
                                counts -> counts.probes()
                                        .getOrDefault(probe, Map.of())
                                        .getOrDefault(result, 0L))));
    }

    private void outcomes(
            MeterRegistry registry, String name, String description, Function<NodeCounts, Map<String, Long>> counts) {
        counts.apply(agent.counts())
                .keySet()
                .forEach(outcome -> counter(
                        registry,
                        name,
                        Tags.of("outcome", outcome),
                        description,
                        latest -> counts.apply(latest).getOrDefault(outcome, 0L)));
    }

    private void counter(
            MeterRegistry registry, String name, Tags further, String description, ToDoubleFunction<NodeCounts> value) {
        FunctionCounter.builder(name, agent, each -> value.applyAsDouble(each.counts()))
                .tags(tags.and(further))
                .description(description)
                .register(registry);
    }

    private void gauge(
            MeterRegistry registry, String name, Tags further, String description, ToDoubleFunction<NodeAgent> value) {
        Gauge.builder(name, agent, value)
                .tags(tags.and(further))
                .description(description)
                .register(registry);
    }

    private static double leaseAge(NodeAgent agent) {
        return agent.sinceRenewal()
                .map(Duration::toMillis)
                .map(millis -> millis / 1000.0)
                .orElse(Double.NaN);
    }
}
