package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.eviction.Pressure;
import dev.podcache.kubelet.eviction.PressureType;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.DaemonEndpoint;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeDaemonEndpoints;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The setters of an ordinary node, in the kubelet's order, and what they are made from; each option has a default, the
 * kubelet's where it has one. Not thread-safe.
 *
 * <p>Who wants more puts setters of his own behind those of {@link #build()}.
 */
public final class NodeStatusSetters {

    private final HostFacts facts;
    private final NodeEvents events;
    private final Timekeeper timekeeper;
    private String hostName;
    private NodeIps nodeIps = NodeIps.NONE;
    private boolean externalCloudProvider;
    private NodeReservations reservations = NodeReservations.none();
    private int maxPods = 110;
    private int podsPerCore;
    private NodeVersions versions = new NodeVersions("", "podcache", () -> "Unknown");
    private int kubeletPort = 10250;
    private Supplier<ImmutableList<NodeImage>> images = ImmutableList::of;
    private int maxImages = 50;
    private Duration pressureTransitionPeriod = Duration.ofMinutes(5);
    private Supplier<ImmutableList<String>> runtimeErrors = ImmutableList::of;
    private Supplier<ImmutableList<String>> networkErrors = ImmutableList::of;
    private Supplier<ImmutableList<String>> storageErrors = ImmutableList::of;
    private Supplier<ImmutableList<String>> shutdownErrors = ImmutableList::of;
    private Supplier<Optional<String>> warning = Optional::empty;
    private Supplier<Optional<ImmutableSet<String>>> volumesInUse = Optional::empty;

    private NodeStatusSetters(String nodeName, HostFacts facts, EventRecorder events, Timekeeper timekeeper) {
        this.hostName = nodeName;
        this.facts = facts;
        this.events = new NodeEvents(events, nodeName);
        this.timekeeper = timekeeper;
    }

    /** Those of the node {@code nodeName}, which stands for the machine of {@code facts}. */
    public static NodeStatusSetters standard(
            String nodeName, HostFacts facts, EventRecorder events, Timekeeper timekeeper) {
        return new NodeStatusSetters(nodeName, facts, events, timekeeper);
    }

    /** The address of type Hostname. Default: the node's name. */
    public NodeStatusSetters hostName(String name) {
        this.hostName = name;
        return this;
    }

    /** The addresses that the node was told to have. Default: none, it finds one. */
    public NodeStatusSetters nodeIps(NodeIps ips) {
        this.nodeIps = ips;
        return this;
    }

    /** Whether a cloud controller sets the node's addresses. Default: no. */
    public NodeStatusSetters externalCloudProvider(boolean external) {
        this.externalCloudProvider = external;
        return this;
    }

    /** What pods do not get, and the thresholds of pressure. Default: {@link NodeReservations#none()}. */
    public NodeStatusSetters reservations(NodeReservations reserved) {
        this.reservations = reserved;
        return this;
    }

    /**
     * How many pods the node takes: {@code max}, or if that is less, {@code perCore} for each processor. Default: 110,
     * and 0 for no limit per processor.
     *
     * @throws IllegalArgumentException if either is negative
     */
    public NodeStatusSetters podLimits(int max, int perCore) {
        if (max < 0 || perCore < 0) {
            throw new IllegalArgumentException(
                    "maxPods is " + max + " and podsPerCore is " + perCore + ": neither may be negative");
        }
        this.maxPods = max;
        this.podsPerCore = perCore;
        return this;
    }

    /**
     * Whose versions the node shows. Default: none of the kubelet's, and an unknown one of a runtime called podcache.
     */
    public NodeStatusSetters versions(NodeVersions shown) {
        this.versions = shown;
        return this;
    }

    /** Where the API server is to reach the kubelet's API. Default: 10250. */
    public NodeStatusSetters kubeletPort(int port) {
        this.kubeletPort = port;
        return this;
    }

    /**
     * The images that are present, in any order; asked before every report, may block. Default: none.
     *
     * @param max how many to report, the largest ones; -1 for all. The kubelet's default is 50
     * @throws IllegalArgumentException if {@code max} is less than -1
     */
    public NodeStatusSetters images(Supplier<ImmutableList<NodeImage>> present, int max) {
        if (max < ImagesSetter.UNLIMITED) {
            throw new IllegalArgumentException("nodeStatusMaxImages " + max + " is less than -1, which means all");
        }
        this.images = present;
        this.maxImages = max;
        return this;
    }

    /**
     * How long the node stays under pressure after the last threshold was met. Default: 5 min.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public NodeStatusSetters pressureTransitionPeriod(Duration period) {
        if (period.isNegative()) {
            throw new IllegalArgumentException(
                    "evictionPressureTransitionPeriod " + period + " is negative: it may be zero");
        }
        this.pressureTransitionPeriod = period;
        return this;
    }

    /**
     * The runtime that must be well for the node to be ready; started and stopped by the caller.
     * Default: no runtime is needed.
     */
    public NodeStatusSetters runtimeHealth(RuntimeHealth health) {
        this.runtimeErrors = health::runtimeErrors;
        this.networkErrors = health::networkErrors;
        return this;
    }

    /** What is wrong with volumes, which makes the node not ready; must neither block nor throw. Default: nothing. */
    public NodeStatusSetters storageErrors(Supplier<ImmutableList<String>> errors) {
        this.storageErrors = errors;
        return this;
    }

    /**
     * Why the node is about to go away, such as {@code node is shutting down}, which makes it not ready; must neither
     * block nor throw. Default: it is not.
     */
    public NodeStatusSetters shutdownErrors(Supplier<ImmutableList<String>> errors) {
        this.shutdownErrors = errors;
        return this;
    }

    /** What people should know even if the node is ready; must neither block nor throw. Default: nothing. */
    public NodeStatusSetters warning(Supplier<Optional<String>> text) {
        this.warning = text;
        return this;
    }

    /**
     * The names of the volumes that are in use; empty while that is not known, which leaves what
     * was reported. Default: not known.
     */
    public NodeStatusSetters volumesInUse(Supplier<Optional<ImmutableSet<String>>> names) {
        this.volumesInUse = names;
        return this;
    }

    /**
     * The setters, to be called in this order.
     *
     * @throws IllegalArgumentException if more is reserved of something than the machine has
     */
    public ImmutableList<NodeStatusSetter> build() {
        MachineInfoSetter.PodLimits limits = new MachineInfoSetter.PodLimits(maxPods, podsPerCore);
        reservations.validate(MachineInfoSetter.capacity(facts, limits));
        return ImmutableList.<NodeStatusSetter>builder()
                .add(new NodeAddressSetter(
                        new NodeAddressSetter.NodeIdentity(hostName, nodeIps, externalCloudProvider),
                        facts,
                        NodeStatusSetters::lookUp))
                .add(new MachineInfoSetter(facts, limits, reservations::of, events))
                .add(new VersionInfoSetter(facts, versions))
                .add((node, now) -> setDaemonEndpoints(node, kubeletPort))
                .add(new ImagesSetter(images, maxImages))
                .add((node, now) -> setPlatform(node, facts))
                .addAll(pressureSetters())
                .add(new ReadySetter(
                        ImmutableList.of(runtimeErrors, networkErrors, storageErrors, shutdownErrors), warning, events))
                .add(new VolumesInUseSetter(volumesInUse))
                .add(new SchedulableEvent(events))
                .build();
    }

    private ImmutableList<NodeStatusSetter> pressureSetters() {
        Pressure.Transition transition = new Pressure.Transition(pressureTransitionPeriod, timekeeper);
        return Arrays.stream(PressureType.values())
                .map(type -> new PressureSetter(
                        type, new Pressure(type, reservations.hardEviction(), facts, transition), events))
                .collect(ImmutableList.toImmutableList());
    }

    private static void setDaemonEndpoints(Node node, int kubeletPort) {
        node.getStatus().setDaemonEndpoints(new NodeDaemonEndpoints(new DaemonEndpoint(kubeletPort)));
    }

    private static void setPlatform(Node node, HostFacts facts) {
        VersionInfoSetter.infoOf(node).setOperatingSystem(facts.operatingSystem());
        VersionInfoSetter.infoOf(node).setArchitecture(facts.architecture());
    }

    private static ImmutableList<InetAddress> lookUp(String name) {
        try {
            return ImmutableList.copyOf(InetAddress.getAllByName(name));
        } catch (UnknownHostException e) {
            return ImmutableList.of();
        }
    }
}
