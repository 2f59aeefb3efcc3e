package dev.podcache.kubelet.agent;

import com.google.common.util.concurrent.Service;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.kubelet.nodelease.NodeLeaseController;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.kubelet.nodestatus.InitialNode;
import dev.podcache.kubelet.nodestatus.NodeIps;
import dev.podcache.kubelet.nodestatus.NodeStatusOptions;
import dev.podcache.kubelet.nodestatus.NodeStatusSetters;
import dev.podcache.kubelet.nodestatus.NodeStatusUpdater;
import dev.podcache.kubelet.nodestatus.NodeVersions;
import dev.podcache.kubelet.nodestatus.RuntimeHealth;
import dev.podcache.node.NodeLister;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The heartbeats of one hollow node: its registration, its status and its Lease. Thread-safe; no method blocks. */
final class HollowNode implements AutoCloseable {

    /**
     * Often enough for the random delay of the second report to spread the reports of nodes that started together. A hollow
     * node changes only when its runtime does, and then syncSoon is called.
     */
    private static final Duration UPDATE_FREQUENCY = Duration.ofSeconds(30);

    /** A status that is reported this often is reported at every update, as by older kubelets. */
    private static final Duration LONGEST_OF_OLDER = Duration.ofMinutes(1);

    /** A shorter one is renewed more than once a second. */
    private static final Duration SHORTEST_LEASE = Duration.ofSeconds(4);

    private final NodeLister lister;
    private final NodeStatusUpdater status;
    private final NodeLeaseController lease;

    /** What the heartbeats of all hollow nodes share. */
    record Shared(
            HollowTemplate template,
            ObjectApi<Node> nodes,
            ObjectApi<Lease> leases,
            RuntimeHealth health,
            Timekeeper timekeeper) {}

    HollowNode(Shared shared, int number, NodeLister lister) {
        HollowTemplate template = shared.template;
        HollowFacts facts = HollowFacts.of(template, number);
        this.lister = lister;
        InitialNode initial = InitialNode.builder(lister.name(), facts.operatingSystem(), facts.architecture())
                .labels(template.labels)
                .taints(template.taints)
                .build();
        NodeStatusOptions options = NodeStatusOptions.builder(initial)
                .updateFrequency(
                        template.statusReport.compareTo(LONGEST_OF_OLDER) > 0
                                ? UPDATE_FREQUENCY
                                : template.statusReport)
                .reportFrequency(template.statusReport)
                .setters(NodeStatusSetters.standard(lister.name(), facts, (about, type, reason, message) -> {})
                        .nodeIps(new NodeIps(List.of(facts.address())))
                        .podLimits(template.maxPods, 0)
                        .versions(new NodeVersions(AgentVersion.kubelet(), "hollow", shared.health::version))
                        .runtimeHealth(shared.health)
                        .build())
                .build();
        this.status = new NodeStatusUpdater(shared.nodes, lister, shared.timekeeper, options);
        this.lease = new NodeLeaseController(
                shared.leases,
                shared.nodes,
                new NodeLeaseOptions(
                        lister.name(),
                        Durations.atLeast(SHORTEST_LEASE, "leaseDuration", template.leaseDuration),
                        () -> {}),
                shared.timekeeper);
        lease.pauseWhile(status::isDeleted);
    }

    /** Registers the node, and then renews its Lease. */
    void start() {
        lister.addListener(this::renewIfRegistered);
        lister.addListener(this::reportIfUnknown);
        status.start();
        renewIfRegistered();
    }

    /** Reports the status soon if a controller has taken the node for dead; the next report may be minutes away. */
    private void reportIfUnknown() {
        boolean unknown = lister.get().map(Node::getStatus).stream()
                .flatMap(known -> known.getConditions().stream())
                .anyMatch(condition -> "Ready".equals(condition.getType()) && "Unknown".equals(condition.getStatus()));
        if (unknown) {
            status.syncSoon();
        }
    }

    private synchronized void renewIfRegistered() {
        // a service starts once
        if (isRegistered() && lease.state() == Service.State.NEW) {
            lease.startAsync();
        }
    }

    boolean isRegistered() {
        return lister.get().isPresent();
    }

    Optional<Duration> sinceRenewal() {
        return lease.sinceRenewal();
    }

    @Override
    public synchronized void close() {
        status.close();
        lease.stopAsync();
    }
}
