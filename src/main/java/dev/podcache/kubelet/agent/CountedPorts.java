package dev.podcache.kubelet.agent;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;

/** The ports of an agent, with counters for what it reports. Thread-safe. */
final class CountedPorts {

    final CountedApi<Node> nodes;
    final CountedApi<Lease> leases;
    final CountedApi<Pod> podStatus;
    private final NodePorts ports;

    CountedPorts(NodePorts ports) {
        this.ports = ports;
        this.nodes = new CountedApi<>(ports.nodes(), ports.timekeeper());
        this.leases = new CountedApi<>(ports.leases(), ports.timekeeper());
        this.podStatus = new CountedApi<>(ports.podStatus(), ports.timekeeper());
    }

    /** Returns what was counted, and what {@code pods} have counted. */
    NodeCounts counts(AgentPods pods) {
        ContainerCounts containers = ContainerCounts.of(pods.statuses());
        return new NodeCounts(
                leases.objects().byOutcome(),
                nodes.statuses().byOutcome(),
                podStatus.statuses().byOutcome(),
                pods.probes(),
                pods.evictions(),
                containers.runningPods(),
                containers.running(),
                containers.exited());
    }

    /** Returns the ports through which requests are counted. */
    NodePorts ports() {
        return new NodePorts(
                nodes,
                leases,
                ports.reconnect(),
                podStatus,
                ports.events(),
                ports.node(),
                ports.pods(),
                ports.services(),
                ports.tokens(),
                ports.reviews(),
                ports.timekeeper());
    }
}
