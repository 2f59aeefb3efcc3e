package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.eviction.PressureType;
import dev.podcache.kubelet.host.HostFacts;
import io.fabric8.kubernetes.api.model.DaemonEndpoint;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.NodeDaemonEndpoints;
import io.fabric8.kubernetes.api.model.Quantity;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Builds the setters of an ordinary node, in the kubelet's order. Each option has a default, which is the kubelet's if
 * it has one. Not thread-safe.
 *
 * <p>To report more, add other setters after those of {@link #build()}.
 */
public final class NodeStatusSetters {

    private final HostFacts facts;
    private final NodeEvents events;
    private final String nodeName;
    private NodeIps nodeIps = NodeIps.NONE;
    private NodeReservations reservations = NodeReservations.none();
    private int maxPods = 110;
    private int podsPerCore;
    private boolean localStorage = true;
    private NodeVersions versions = new NodeVersions("", "podcache", () -> "Unknown");
    private Supplier<OptionalInt> kubeletPort = OptionalInt::empty;
    private List<String> declaredFeatures = List.of();
    private Supplier<List<NodeImage>> images = List::of;
    private Predicate<PressureType> pressure = type -> false;
    private Supplier<List<String>> runtimeErrors = List::of;
    private Supplier<List<String>> networkErrors = List::of;
    private Map<String, Quantity> capacity = Map.of();
    private Supplier<List<NodeCondition>> conditions = List::of;

    private NodeStatusSetters(String nodeName, HostFacts facts, EventRecorder events) {
        this.nodeName = nodeName;
        this.facts = facts;
        this.events = new NodeEvents(events, nodeName);
    }

    /** Returns a builder for the node {@code nodeName}, which represents the machine of {@code facts}. */
    public static NodeStatusSetters standard(String nodeName, HostFacts facts, EventRecorder events) {
        return new NodeStatusSetters(nodeName, facts, events);
    }

    /** Sets the configured addresses. Default: none; the node finds its address. */
    public NodeStatusSetters nodeIps(NodeIps ips) {
        this.nodeIps = ips;
        return this;
    }

    /** Sets the reservations and the eviction thresholds. Default: {@link NodeReservations#none()}. */
    public NodeStatusSetters reservations(NodeReservations reserved) {
        this.reservations = reserved;
        return this;
    }

    /**
     * Sets the maximum number of pods: {@code max}, or {@code perCore} for each processor if that is less;
     * {@code perCore} 0 is no limit. Default: 110 and 0.
     *
     * @throws IllegalArgumentException if either is negative
     */
    public NodeStatusSetters podLimits(int max, int perCore) {
        if (max < 0 || perCore < 0) {
            throw new IllegalArgumentException(
                    "maxPods is " + max + " and podsPerCore is " + perCore + "; neither may be negative");
        }
        this.maxPods = max;
        this.podsPerCore = perCore;
        return this;
    }

    /** Sets whether the node offers its ephemeral storage, so that pods can request and limit it. Default: true. */
    public NodeStatusSetters localStorage(boolean offered) {
        this.localStorage = offered;
        return this;
    }

    /** Sets the reported versions. Default: empty for the kubelet, and {@code podcache://Unknown} for the runtime. */
    public NodeStatusSetters versions(NodeVersions shown) {
        this.versions = shown;
        return this;
    }

    /**
     * Sets the source of the port at which the API server reaches the kubelet's API; while it is empty, the Node advertises
     * no port. Default: no port.
     */
    public NodeStatusSetters kubeletPort(Supplier<OptionalInt> port) {
        this.kubeletPort = port;
        return this;
    }

    /** Sets what this node can do that not every node of its version can, sorted. Default: nothing. */
    public NodeStatusSetters declaredFeatures(List<String> features) {
        this.declaredFeatures = List.copyOf(features);
        return this;
    }

    /**
     * Sets the source of the images on the node. Default: none.
     *
     * @param present returns the images in any order, of which the 50 largest are reported; called whenever the status is
     *     computed; may block
     */
    public NodeStatusSetters images(Supplier<List<NodeImage>> present) {
        this.images = present;
        return this;
    }

    /**
     * Sets the source of the node's pressures, such as an eviction manager; must neither block nor throw. Default: the node
     * is never under pressure.
     */
    public NodeStatusSetters pressure(Predicate<PressureType> source) {
        this.pressure = source;
        return this;
    }

    /**
     * Sets the runtime whose errors make the node not ready. The caller starts and stops {@code health}. Default: none.
     */
    public NodeStatusSetters runtimeHealth(RuntimeHealth health) {
        this.runtimeErrors = health::runtimeErrors;
        this.networkErrors = health::networkErrors;
        return this;
    }

    /**
     * Sets what the node offers of some resources, instead of what the machine has of them. All of it is allocatable.
     * Default: none.
     */
    public NodeStatusSetters capacity(Map<String, Quantity> resources) {
        this.capacity = ImmutableMap.copyOf(resources);
        return this;
    }

    /**
     * Sets the source of further conditions, whose heartbeat and transition times are set here; must neither block nor
     * throw. A condition that is no longer returned is removed only by other clients. Default: none.
     */
    public NodeStatusSetters conditions(Supplier<List<NodeCondition>> values) {
        this.conditions = values;
        return this;
    }

    /**
     * Returns the setters, in the order in which they must be called; unmodifiable.
     *
     * @throws IllegalArgumentException if more of a resource is reserved than the machine has
     */
    public List<NodeStatusSetter> build() {
        MachineInfoSetter.PodLimits limits = new MachineInfoSetter.PodLimits(maxPods, podsPerCore);
        reservations.validate(MachineInfoSetter.capacity(facts, limits));
        return ImmutableList.<NodeStatusSetter>builder()
                .add(new NodeAddressSetter(nodeName, nodeIps, facts, NodeStatusSetters::lookUp))
                .add(new MachineInfoSetter(facts, limits, localStorage, reservations::of, events))
                .add((node, now) -> offer(node, capacity))
                .add(new VersionInfoSetter(facts, versions))
                .add((node, now) -> setDaemonEndpoints(node, kubeletPort.get()))
                .add((node, now) -> node.getStatus().setDeclaredFeatures(declaredFeatures))
                .add(new ImagesSetter(images))
                .add((node, now) -> setPlatform(node, facts))
                .addAll(pressureSetters())
                .add(new FurtherConditions(conditions))
                .add(new ReadySetter(List.of(runtimeErrors, networkErrors), localStorage, events))
                .add(new SchedulableEvent(events))
                .build();
    }

    private static void offer(Node node, Map<String, Quantity> resources) {
        node.getStatus().getCapacity().putAll(resources);
        node.getStatus().getAllocatable().putAll(resources);
    }

    private List<PressureSetter> pressureSetters() {
        return Arrays.stream(PressureType.values())
                .map(type -> new PressureSetter(type, () -> pressure.test(type), events))
                .toList();
    }

    private static void setDaemonEndpoints(Node node, OptionalInt kubeletPort) {
        // a Node that no kubelet reports has 0
        DaemonEndpoint endpoint = new DaemonEndpoint();
        endpoint.setPort(kubeletPort.orElse(0));
        NodeDaemonEndpoints endpoints = new NodeDaemonEndpoints();
        endpoints.setKubeletEndpoint(endpoint);
        node.getStatus().setDaemonEndpoints(endpoints);
    }

    private static void setPlatform(Node node, HostFacts facts) {
        VersionInfoSetter.infoOf(node).setOperatingSystem(facts.operatingSystem());
        VersionInfoSetter.infoOf(node).setArchitecture(facts.architecture());
    }

    private static List<InetAddress> lookUp(String name) {
        try {
            return List.of(InetAddress.getAllByName(name));
        } catch (UnknownHostException e) {
            return List.of();
        }
    }
}
