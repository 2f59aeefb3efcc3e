package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.events.EventRecorder;
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

/** Creates the options of the node status and the Lease from the options of the agent. */
final class NodeSelf {

    private final NodeAgentOptions options;
    private final KubeletConfiguration configuration;
    private final EventRecorder events;
    private final RuntimeHealth health;
    private final Timekeeper timekeeper;

    NodeSelf(NodeAgentOptions options, EventRecorder events, RuntimeHealth health, Timekeeper timekeeper) {
        this.options = options;
        this.configuration = options.configuration();
        this.events = events;
        this.health = health;
        this.timekeeper = timekeeper;
    }

    NodeStatusOptions status(Runnable onRepeatedFailure) {
        return NodeStatusOptions.builder(initial())
                .setters(setters())
                .registerNode(configuration.registration().register())
                .updateFrequency(configuration.heartbeats().statusUpdate())
                .reportFrequency(configuration.heartbeats().statusReport())
                .onRepeatedFailure(onRepeatedFailure)
                .build();
    }

    NodeLeaseOptions lease(Runnable onRepeatedFailure) {
        Duration duration = Duration.ofSeconds(configuration.heartbeats().leaseSeconds());
        return new NodeLeaseOptions(options.node(), duration, onRepeatedFailure);
    }

    private InitialNode initial() {
        KubeletConfiguration.NodeRegistrationOptions registration = configuration.registration();
        InitialNode.Builder node = InitialNode.builder(
                        options.node(),
                        options.facts().operatingSystem(),
                        options.facts().architecture())
                .labels(registration.labels())
                .taints(registration.taints());
        return registration.providerId().isEmpty()
                ? node.build()
                : node.providerId(registration.providerId()).build();
    }

    private List<NodeStatusSetter> setters() {
        KubeletConfiguration.Reservations reservations = configuration.reservations();
        return NodeStatusSetters.standard(options.node(), options.facts(), events, timekeeper)
                .nodeIps(configuration.registration().addresses())
                .reservations(reservations.reserved())
                .podLimits(reservations.maxPods(), reservations.podsPerCore())
                .pressureTransitionPeriod(configuration.pressureTransition())
                .kubeletPort(configuration.kubeletPort())
                .versions(new NodeVersions(options.version(), options.runtime().type(), health::version))
                .runtimeHealth(health)
                .build();
    }
}
