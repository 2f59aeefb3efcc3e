package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.eviction.PressureType;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.nodelease.NodeLeaseOptions;
import dev.podcache.kubelet.nodestatus.InitialNode;
import dev.podcache.kubelet.nodestatus.NodeStatusOptions;
import dev.podcache.kubelet.nodestatus.NodeStatusSetter;
import dev.podcache.kubelet.nodestatus.NodeStatusSetters;
import dev.podcache.kubelet.nodestatus.NodeVersions;
import dev.podcache.kubelet.nodestatus.RuntimeHealth;
import dev.podcache.kubelet.runtime.ContainerAttach;
import dev.podcache.kubelet.runtime.ContainerExec;
import dev.podcache.kubelet.runtime.PodRuntime;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Creates the options of the node status and the Lease from the options of the agent. */
final class NodeSelf {

    /** An API server from 1.36 on passes the WebSocket of {@code kubectl exec} and {@code attach} on to a node that declares this. */
    private static final String WEB_SOCKETS = "ExtendWebSocketsToKubelet";

    private final String node;
    private final HostFacts facts;
    private final NodeAgentBuilder options;
    private final Predicate<PressureType> pressure;

    NodeSelf(String node, HostFacts facts, NodeAgentBuilder options, Predicate<PressureType> pressure) {
        this.node = node;
        this.facts = facts;
        this.options = options;
        this.pressure = pressure;
    }

    NodeStatusOptions status(
            EventRecorder events,
            PodRuntime runtime,
            RuntimeHealth health,
            Supplier<OptionalInt> kubeletPort,
            Runnable onRepeatedFailure) {
        return NodeStatusOptions.builder(initial())
                .setters(setters(events, runtime, health, kubeletPort))
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
            EventRecorder events, PodRuntime runtime, RuntimeHealth health, Supplier<OptionalInt> kubeletPort) {
        KubeletConfiguration.Reservations reservations = options.reservations;
        boolean servesStreams =
                options.endpoint.enabled() && (runtime instanceof ContainerExec || runtime instanceof ContainerAttach);
        return NodeStatusSetters.standard(node, facts, events)
                .nodeIps(options.registration.addresses())
                .reservations(reservations.reserved().withHardEviction(options.eviction.hard()))
                .podLimits(reservations.maxPods(), reservations.podsPerCore())
                .capacity(options.capacity)
                .conditions(options.conditions)
                .pressure(pressure)
                .kubeletPort(kubeletPort)
                .declaredFeatures(servesStreams ? List.of(WEB_SOCKETS) : List.of())
                .versions(new NodeVersions(options.version, runtime.type(), health::version))
                .runtimeHealth(health)
                .build();
    }
}
