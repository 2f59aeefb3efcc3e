package dev.podcache.controlplane.planner;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.kubelet.nodelease.NodeLeaseController;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.kubelet.nodestatus.InitialNode;
import dev.podcache.kubelet.nodestatus.NodeStatusOptions;
import dev.podcache.kubelet.nodestatus.NodeStatusUpdater;
import dev.podcache.node.NodeLister;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** The heartbeats of one node in a simulation: the classes of the agent, without a network. For one thread. */
final class SimulatedAgent {

    private final NodeStatusUpdater status;
    private final NodeLeaseController lease;

    /** Creates a node that does nothing yet. */
    SimulatedAgent(String name, PlanSettings settings, SimulatedApis server, SimulatedWorld world) {
        InitialNode self = InitialNode.builder(name, "linux", "amd64").build();
        NodeStatusOptions options = NodeStatusOptions.builder(self)
                // the status never changes, so updates between two reports would do nothing
                .updateFrequency(HeartbeatPlan.reportTick(settings))
                .reportFrequency(HeartbeatPlan.reportTick(settings))
                .setters(List.of(SimulatedAgent::setReady))
                .random(world.random())
                .build();
        status = new NodeStatusUpdater(server.nodeApi(), new SimulatedLister(name, server), world.time(), options);
        lease = new NodeLeaseController(
                server.leaseApi(),
                server.nodeApi(),
                new NodeLeaseOptions(name, settings.leaseDuration, () -> {}, world.random()),
                world.time());
    }

    /** What an agent needs of an API server for its heartbeats. */
    interface SimulatedApis {

        ObjectApi<Node> nodeApi();

        ObjectApi<Lease> leaseApi();

        /** Returns the Node of this name; null if there is none. */
        @Nullable
        Node node(String name);
    }

    /** Time and chance of a simulation: the clock, and random numbers uniform in [0, 1). */
    record SimulatedWorld(Timekeeper time, DoubleSupplier random) {}

    void start() {
        status.start();
        lease.startAsync();
    }

    /** Stops without a further request, as when the machine loses its power. */
    void die() {
        status.close();
        lease.stopAsync();
    }

    private static void setReady(Node node, Instant now) {
        String time = ApiTime.of(now);
        NodeCondition ready = new NodeCondition();
        ready.setType("Ready");
        ready.setStatus("True");
        ready.setReason("KubeletReady");
        ready.setLastHeartbeatTime(time);
        ready.setLastTransitionTime(time);
        for (NodeCondition before : node.getStatus().getConditions()) {
            if (before.getType().equals("Ready")) {
                ready.setLastTransitionTime(before.getLastTransitionTime());
            }
        }
        node.getStatus().setConditions(List.of(ready));
    }

    /** Sees the Node as the server has it. */
    private record SimulatedLister(String name, SimulatedApis server) implements NodeLister {

        @Override
        public Optional<Node> get() {
            return Optional.ofNullable(server.node(name));
        }

        @Override
        public Optional<String> problem() {
            return Optional.empty();
        }

        @Override
        public void addListener(Runnable listener) {}

        @Override
        public void removeListener(Runnable listener) {}

        @Override
        public void close() {}
    }
}
