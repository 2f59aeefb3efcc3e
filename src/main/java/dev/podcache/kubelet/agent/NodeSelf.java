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
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.PodRuntime;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Creates the options of the node status and the Lease from the options of the agent. */
final class NodeSelf {

    /** An API server from 1.36 on passes the WebSocket of {@code kubectl exec} and {@code attach} on to a node that declares this. */
    private static final String WEB_SOCKETS = "ExtendWebSocketsToKubelet";

    /** Keeps pods away that do not ask for a node on which nothing runs. */
    private static final Taint HOLLOW = new TaintBuilder()
            .withKey("podcache.dev/hollow")
            .withEffect("NoSchedule")
            .build();

    private final NodeAgentOptions options;
    private final KubeletConfiguration configuration;
    private final Predicate<PressureType> pressure;

    NodeSelf(NodeAgentOptions options, Predicate<PressureType> pressure) {
        this.options = options;
        this.configuration = options.configuration();
        this.pressure = pressure;
    }

    NodeStatusOptions status(
            EventRecorder events,
            PodRuntime runtime,
            RuntimeHealth health,
            Supplier<OptionalInt> kubeletPort,
            Runnable onRepeatedFailure) {
        return NodeStatusOptions.builder(initial(runtime))
                .setters(setters(events, runtime, health, kubeletPort))
                .registerNode(configuration.registration().register())
                .registerAgain(options.registerAgain())
                .updateFrequency(configuration.heartbeats().statusUpdate())
                .reportFrequency(configuration.heartbeats().statusReport())
                .onRepeatedFailure(onRepeatedFailure)
                .build();
    }

    NodeLeaseOptions lease(Runnable onRepeatedFailure) {
        return new NodeLeaseOptions(
                options.node(), Duration.ofSeconds(configuration.heartbeats().leaseSeconds()), onRepeatedFailure);
    }

    private InitialNode initial(PodRuntime runtime) {
        HostFacts facts = options.facts();
        boolean isHollow = runtime instanceof HollowRuntime && !options.taintsGiven();
        InitialNode.Builder initial = InitialNode.builder(options.node(), facts.operatingSystem(), facts.architecture())
                .labels(configuration.registration().labels())
                .taints(
                        isHollow
                                ? List.of(HOLLOW)
                                : configuration.registration().taints());
        return configuration.registration().providerId().isEmpty()
                ? initial.build()
                : initial.providerId(configuration.registration().providerId()).build();
    }

    private List<NodeStatusSetter> setters(
            EventRecorder events, PodRuntime runtime, RuntimeHealth health, Supplier<OptionalInt> kubeletPort) {
        KubeletConfiguration.Reservations reservations = configuration.reservations();
        boolean servesStreams = configuration.endpoint().enabled()
                && (runtime instanceof ContainerExec || runtime instanceof ContainerAttach);
        return NodeStatusSetters.standard(options.node(), options.facts(), events)
                .nodeIps(configuration.registration().addresses())
                .reservations(reservations
                        .reserved()
                        .withHardEviction(configuration.eviction().hard()))
                .podLimits(reservations.maxPods(), reservations.podsPerCore())
                .localStorage(configuration.eviction().localStorageLimits())
                .capacity(options.capacity())
                .conditions(options.conditions())
                .images(options.images())
                .pressure(pressure)
                .kubeletPort(kubeletPort)
                .declaredFeatures(servesStreams ? List.of(WEB_SOCKETS) : List.of())
                .versions(new NodeVersions(options.version(), runtime.type(), health::version))
                .runtimeHealth(health)
                .build();
    }
}
