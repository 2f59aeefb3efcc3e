package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.kubelet.nodestatus.InitialNode;
import dev.podcache.kubelet.nodestatus.NodeStatusOptions;
import dev.podcache.kubelet.nodestatus.NodeStatusSetter;
import dev.podcache.kubelet.nodestatus.NodeStatusSetters;
import dev.podcache.kubelet.nodestatus.NodeVersions;
import dev.podcache.kubelet.nodestatus.RuntimeHealth;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;

/** Creates the options of the node status and the Lease from the options of the agent. */
final class NodeSelf {

    private final String node;
    private final HostFacts facts;
    private final NodeAgentBuilder options;
    private final Timekeeper timekeeper;

    NodeSelf(String node, HostFacts facts, NodeAgentBuilder options, Timekeeper timekeeper) {
        this.node = node;
        this.facts = facts;
        this.options = options;
        this.timekeeper = timekeeper;
    }

    NodeStatusOptions status(
            EventRecorder events,
            String runtimeType,
            RuntimeHealth health,
            Supplier<OptionalInt> kubeletPort,
            Runnable onRepeatedFailure) {
        return NodeStatusOptions.builder(initial())
                .setters(setters(events, runtimeType, health, kubeletPort))
                .registerNode(options.registration.register())
                .registerAgain(options.registerAgain)
                .updateFrequency(options.heartbeats.statusUpdate())
                .reportFrequency(options.heartbeats.statusReport())
                .onRepeatedFailure(onRepeatedFailure)
                .build();
    }

    NodeLeaseOptions lease(Runnable onRepeatedFailure) {
        return new NodeLeaseOptions(node, Duration.ofSeconds(options.heartbeats.leaseSeconds()), onRepeatedFailure);
    }

    private InitialNode initial() {
        InitialNode.Builder initial = InitialNode.builder(node, facts.operatingSystem(), facts.architecture())
                .labels(options.registration.labels())
                .taints(options.registration.taints());
        return options.registration.providerId().isEmpty()
                ? initial.build()
                : initial.providerId(options.registration.providerId()).build();
    }

    private List<NodeStatusSetter> setters(
            EventRecorder events, String runtimeType, RuntimeHealth health, Supplier<OptionalInt> kubeletPort) {
        KubeletConfiguration.Reservations reservations = options.reservations;
        return NodeStatusSetters.standard(node, facts, events, timekeeper)
                .nodeIps(options.registration.addresses())
                .reservations(reservations.reserved())
                .podLimits(reservations.maxPods(), reservations.podsPerCore())
                .capacity(options.capacity)
                .conditions(options.conditions)
                .pressureTransitionPeriod(options.pressureTransition)
                .kubeletPort(kubeletPort)
                .versions(new NodeVersions(options.version, runtimeType, health::version))
                .runtimeHealth(health)
                .build();
    }
}
