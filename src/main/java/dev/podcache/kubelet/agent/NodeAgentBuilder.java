package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.io.Closer;
import com.google.common.net.InetAddresses;
import com.google.common.primitives.Ints;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.kubelet.agent.KubeletConfiguration.CrashLoopBackOff;
import dev.podcache.kubelet.agent.KubeletConfiguration.Endpoint;
import dev.podcache.kubelet.agent.KubeletConfiguration.HealthPort;
import dev.podcache.kubelet.agent.KubeletConfiguration.HeartbeatTimes;
import dev.podcache.kubelet.agent.KubeletConfiguration.NodeRegistrationOptions;
import dev.podcache.kubelet.agent.KubeletConfiguration.Reservations;
import dev.podcache.kubelet.eviction.EvictionOptions;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.nodestatus.NodeImage;
import dev.podcache.kubelet.nodestatus.NodeIps;
import dev.podcache.kubelet.nodestatus.NodeReservations;
import dev.podcache.kubelet.podsync.PodAdmission;
import dev.podcache.kubelet.podsync.PodListener;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.server.KubeletServerBuilder;
import dev.podcache.kubelet.server.ListenAddress;
import dev.podcache.kubelet.staticpods.StaticPodFiles;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.Amounts;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Quoted;
import dev.podcache.time.Durations;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Builds a {@link NodeAgent}. Only the name of the node is required. The defaults are the kubelet's, except that there is
 * no health port. Not thread-safe.
 *
 * <p>A value that is not allowed is refused with an {@link IllegalArgumentException} that names it: by its setter, which
 * then changes nothing, or by {@link #build}, if it depends on the machine or on other options. A setter that is called after
 * {@link #build} changes the next agent only.
 */
public final class NodeAgentBuilder {

    private static final int SYNCS = 8;

    private final Function<NodeAgentOptions, AgentServer> serverOf;
    private @Nullable String node;
    private @Nullable HostFacts facts;
    private Function<Timekeeper, PodRuntime> runtime = HollowRuntime::new;
    private ObjectCaching caching = KubeletConfiguration.DEFAULT.caching();
    private HeartbeatTimes heartbeats = KubeletConfiguration.DEFAULT.heartbeats();
    private NodeRegistrationOptions registration = KubeletConfiguration.DEFAULT.registration();
    private Reservations reservations = KubeletConfiguration.DEFAULT.reservations();
    private EvictionOptions eviction = KubeletConfiguration.DEFAULT.eviction();
    private RequestLimit rates = KubeletConfiguration.DEFAULT.rates();
    private String clusterDomain = KubeletConfiguration.DEFAULT.clusterDomain();
    private Endpoint endpoint = KubeletConfiguration.DEFAULT.endpoint();
    private Optional<StaticPodFiles> staticPods = KubeletConfiguration.DEFAULT.staticPods();
    private HealthPort health = HealthPort.OFF;
    private CrashLoopBackOff restarts = KubeletConfiguration.DEFAULT.restarts();
    private Optional<Function<NodeAgent, Supplier<String>>> scrape = Optional.empty();
    private ImmutableMap<String, String> flags = ImmutableMap.of();
    private UnaryOperator<KubeletServerBuilder> server = UnaryOperator.identity();
    private ImmutableMap<String, Quantity> capacity = ImmutableMap.of();
    private Supplier<List<NodeCondition>> conditions = List::of;
    private Supplier<List<NodeImage>> images = List::of;
    private boolean registerAgain;
    private int syncs = SYNCS;
    private String version = AgentVersion.kubelet();
    private PodListener listener = PodListener.SILENT;
    private PodAdmission admission = PodAdmission.ALL;
    private boolean taintsGiven;
    private PodcacheMetrics metrics = PodcacheMetrics.NONE;
    private UnaryOperator<Caches> reads = UnaryOperator.identity();
    private BiFunction<Integer, Timekeeper, TaskThreads> threadsOf =
            (limit, timekeeper) -> TaskThreads.named("podcache-pod", limit, timekeeper);

    NodeAgentBuilder(Function<NodeAgentOptions, AgentServer> serverOf) {
        this.serverOf = serverOf;
    }

    /**
     * Sets the name of the node. A node with a kubelet must not be named.
     *
     * @throws IllegalArgumentException if {@code name} is not a legal name of an object
     */
    public NodeAgentBuilder node(String name) {
        try {
            node = ObjectKey.validatedClusterScoped(name).name();
        } catch (IllegalArgumentException illegal) {
            throw new IllegalArgumentException("node " + illegal.getMessage(), illegal);
        }
        return this;
    }

    /** Sets the runtime of the containers. Default: {@link HollowRuntime}, which runs nothing. */
    public NodeAgentBuilder runtime(PodRuntime value) {
        Objects.requireNonNull(value, "runtime");
        return runtime(time -> value);
    }

    /** Sets the runtime of the containers. The function is called by {@link #build} with the agent's time and timers. */
    public NodeAgentBuilder runtime(Function<Timekeeper, PodRuntime> value) {
        runtime = Objects.requireNonNull(value, "runtime");
        return this;
    }

    /**
     * Sets the machine whose resources, addresses and versions the node reports. Default: this machine, which needs
     * {@code com.github.oshi:oshi-core} on the class path.
     */
    public NodeAgentBuilder facts(HostFacts value) {
        facts = Objects.requireNonNull(value, "facts");
        return this;
    }

    /**
     * Sets what the node offers of some resources, such as {@code cpu}, {@code memory}, {@code pods} or {@code
     * example.com/gpu}, instead of what the machine has of them. All of it is allocatable. Default: none; the machine's
     * resources.
     *
     * @throws IllegalArgumentException if a value is not a quantity, or negative; the message names the resource
     */
    public NodeAgentBuilder capacity(Map<String, Quantity> resources) {
        Objects.requireNonNull(resources, "resources").forEach(NodeAgentBuilder::checkAmount);
        capacity = ImmutableMap.copyOf(resources);
        return this;
    }

    private static void checkAmount(String resource, Quantity amount) {
        String refused = "capacity: " + resource + " must be a quantity such as 4 or 8Gi, and not negative, but is "
                + Quoted.value(amount.toString());
        try {
            if (Amounts.of(amount).signum() >= 0) {
                return;
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(refused, e);
        }
        throw new IllegalArgumentException(refused);
    }

    /** Sets the labels to register the node with, in addition to the labels of its platform and host name. */
    public NodeAgentBuilder labels(Map<String, String> values) {
        registration = registration.withLabels(ImmutableMap.copyOf(Objects.requireNonNull(values, "labels")));
        return this;
    }

    /**
     * Sets the taints to register the node with. Default: none; with a {@link HollowRuntime} it is {@code
     * podcache.dev/hollow:NoSchedule}, because a pod that is scheduled to such a node becomes Running and does nothing.
     */
    public NodeAgentBuilder taints(List<Taint> values) {
        registration = registration.withTaints(ImmutableList.copyOf(Objects.requireNonNull(values, "taints")));
        taintsGiven = true;
        return this;
    }

    /**
     * Sets the addresses of the node: one, or one of each family. Default: that of the machine's default route.
     *
     * @throws IllegalArgumentException if there are more than two, two of one family, or one that no other machine can reach,
     *     such as a loopback address
     */
    public NodeAgentBuilder addresses(List<InetAddress> values) {
        registration = registration.withAddresses(NodeIps.parse(Objects.requireNonNull(values, "addresses").stream()
                .map(InetAddresses::toAddrString)
                .collect(Collectors.joining(","))));
        return this;
    }

    /** Sets whether the agent registers its node. If not, another client must create the Node. Default: true. */
    public NodeAgentBuilder register(boolean value) {
        registration = registration.withRegister(value);
        return this;
    }

    /**
     * Sets whether the agent registers its node again after the Node was deleted. Then the labels, taints and
     * annotations of other clients are lost, and neither {@code kubectl delete node} nor an autoscaler can remove the
     * node. Default: false.
     */
    public NodeAgentBuilder registerAgain(boolean value) {
        registerAgain = value;
        return this;
    }

    /**
     * Sets the source of further conditions of the Node. Their heartbeat and transition times are set by the agent.
     * Default: none.
     *
     * @param values called whenever the status is computed; must neither block nor throw
     */
    public NodeAgentBuilder conditions(Supplier<List<NodeCondition>> values) {
        conditions = Objects.requireNonNull(values, "conditions");
        return this;
    }

    /**
     * Sets the source of the images on the node. The Node shows the 50 largest; the scheduler prefers a node that has a pod's
     * image. Default: none.
     *
     * @param present called whenever the status is computed, ten times a second until the node is ready; may block for a moment. If it
     *     throws, the Node shows no image
     */
    public NodeAgentBuilder images(Supplier<List<NodeImage>> present) {
        images = Objects.requireNonNull(present, "present");
        return this;
    }

    /** Sets how changes of Secrets and ConfigMaps are detected. Default: WATCH. */
    public NodeAgentBuilder strategy(ChangeDetectionStrategy value) {
        caching = caching.withStrategy(Objects.requireNonNull(value, "strategy"));
        return this;
    }

    /** Sets the period after which a pod is synced although nothing has changed. Default: 1 min. */
    public NodeAgentBuilder syncFrequency(Duration value) {
        caching = caching.withSyncFrequency(Durations.positive("syncFrequency", value));
        return this;
    }

    /**
     * Sets the longest pause before the restart of a container that ends again and again. The first pause is 10 s, or this
     * one if it is shorter, and each further one is twice as long as the one before. Default: 5 min.
     *
     * @param longest from 1 s to 5 min
     */
    public NodeAgentBuilder maxContainerRestartPeriod(Duration longest) {
        restarts = new CrashLoopBackOff(Objects.requireNonNull(longest, "maxContainerRestartPeriod"));
        return this;
    }

    /**
     * Sets the periods of the node's status: how often it is computed, and how often it is reported if it has not
     * changed. Default: 10 s and 5 min.
     */
    public NodeAgentBuilder statusPeriods(Duration update, Duration report) {
        heartbeats = new HeartbeatTimes(
                Durations.positive("the update period", update),
                Durations.positive("the report period", report),
                heartbeats.leaseSeconds());
        return this;
    }

    /**
     * Sets the duration of the Lease, which is renewed after a quarter of it: at least a second; fractions of seconds are
     * cut. Default: 40 s.
     */
    public NodeAgentBuilder leaseDuration(Duration value) {
        heartbeats = new HeartbeatTimes(
                heartbeats.statusUpdate(),
                heartbeats.statusReport(),
                Ints.saturatedCast(Durations.atLeast(Duration.ofSeconds(1), "the lease duration", value)
                        .toSeconds()));
        return this;
    }

    /**
     * Sets when pods are evicted. The amounts that hard thresholds keep free are not allocatable. A runtime without {@link
     * dev.podcache.kubelet.runtime.ContainerStatistics} has no pod evicted: its node reports pressure only. Default: the
     * kubelet's.
     */
    public NodeAgentBuilder eviction(EvictionOptions value) {
        eviction = Objects.requireNonNull(value, "eviction");
        return this;
    }

    /**
     * Sets the part of the machine that pods cannot use, in addition to the hard thresholds of {@link #eviction}. Default:
     * none.
     */
    public NodeAgentBuilder reservations(NodeReservations value) {
        reservations = new Reservations(
                reservations.maxPods(), reservations.podsPerCore(), Objects.requireNonNull(value, "reservations"));
        return this;
    }

    /** Sets the maximum number of pods. Default: 110. */
    public NodeAgentBuilder maxPods(int value) {
        if (value < 0) {
            throw new IllegalArgumentException("maxPods must not be negative, but is " + value);
        }
        reservations = new Reservations(value, reservations.podsPerCore(), reservations.reserved());
        return this;
    }

    /**
     * Sets the limit of requests per second and at once, without watches and heartbeats. Has no effect on an agent that
     * shares its API server. Default: 50 and 100.
     */
    public NodeAgentBuilder requests(RequestLimit value) {
        rates = Objects.requireNonNull(value, "rates");
        return this;
    }

    /**
     * Sets the domain of the cluster, which the full names of pods with a {@code subdomain} end with; "" for no full names.
     * Default: {@code cluster.local}.
     *
     * @throws IllegalArgumentException if {@code value} is no DNS name
     */
    public NodeAgentBuilder clusterDomain(String value) {
        clusterDomain = KubeletConfiguration.legalDomain(Objects.requireNonNull(value, "clusterDomain"));
        return this;
    }

    /**
     * Sets options of the node's HTTPS endpoint, through which {@code kubectl logs} and {@code kubectl exec} reach the
     * runtime: its address, port, certificate, the authority of its clients, and metrics. By default it listens at port
     * 10250, or at any free port if that is in use, with a self-signed certificate, and accepts tokens only; most clusters
     * need {@link KubeletServerBuilder#clientAuthority}.
     *
     * @param options called on the builder of the endpoint when the agent starts
     */
    public NodeAgentBuilder server(UnaryOperator<KubeletServerBuilder> options) {
        server = Objects.requireNonNull(options, "options");
        return this;
    }

    /**
     * Turns the node's HTTPS endpoint and the health port off. The Node advertises no port, and {@code kubectl logs},
     * {@code exec}, {@code attach} and {@code port-forward} fail for its pods.
     */
    public NodeAgentBuilder withoutServer() {
        endpoint = Endpoint.NONE;
        health = HealthPort.OFF;
        return this;
    }

    /**
     * Sets where {@code /livez}, {@code /readyz} and {@code /healthz} are served without TLS and authentication; at a
     * loopback address also {@code /metrics}, {@code /configz}, {@code /statusz}, {@code /flagz} and {@code
     * /debug/objects}. If the port is in use, the agent works without it. Default: nowhere.
     *
     * @param address an IP address, such as {@code 127.0.0.1}
     * @param port a kubelet has 10248; 0 for none
     */
    public NodeAgentBuilder healthPort(String address, int port) {
        health = new HealthPort(
                ListenAddress.address("the address of the health port", address),
                ListenAddress.port("the health port", port));
        return this;
    }

    /**
     * Sets what {@code /metrics} answers: {@code PrometheusScrape::ofNode} of {@code dev.podcache.micrometer}, which needs
     * {@code io.micrometer:micrometer-registry-prometheus}. Default: the answer is 404.
     *
     * @param text creates the supplier of the text, in the format of Prometheus, when the agent starts. The supplier is
     *     called for each scrape, by several threads
     */
    public NodeAgentBuilder scrape(Function<NodeAgent, Supplier<String>> text) {
        scrape = Optional.of(Objects.requireNonNull(text, "text"));
        return this;
    }

    /**
     * Sets the flags that {@code /flagz} shows, by name without hyphens. Default: none.
     *
     * @param values must contain nothing secret
     */
    public NodeAgentBuilder flags(Map<String, String> values) {
        flags = ImmutableMap.copyOf(Objects.requireNonNull(values, "flags"));
        return this;
    }

    /**
     * Sets where the manifests of static pods are: a folder, or one file. They are read every 20 s; their pods run whether
     * or not the API server answers. Default: none.
     */
    public NodeAgentBuilder staticPods(Path manifests) {
        return staticPods(
                new StaticPodFiles(Objects.requireNonNull(manifests, "manifests"), StaticPodFiles.DEFAULT_FREQUENCY));
    }

    /** Sets where the manifests of static pods are, and how often they are read. Default: none. */
    public NodeAgentBuilder staticPods(StaticPodFiles files) {
        staticPods = Optional.of(Objects.requireNonNull(files, "files"));
        return this;
    }

    /** Sets how many pods are synced at the same time, without those whose runtime call takes long. Default: 8. */
    public NodeAgentBuilder threads(int value) {
        if (value <= 0) {
            throw new IllegalArgumentException("the number of threads must be positive, but is " + value);
        }
        syncs = value;
        return this;
    }

    /** Sets what makes the threads of the pod workers. A test runs everything on its own thread. */
    NodeAgentBuilder threadsOf(BiFunction<Integer, Timekeeper, TaskThreads> value) {
        threadsOf = value;
        return this;
    }

    /**
     * Sets the kubelet version in the Node's status, such as {@code v1.36.0}. Default: that of the kubelet whose behaviour the
     * agent follows, with Podcache's own behind it, such as {@code v1.36.0-podcache.0.1}.
     */
    public NodeAgentBuilder version(String value) {
        version = Objects.requireNonNull(value, "version");
        return this;
    }

    /** Sets the listener of the pods' statuses. Default: none. */
    public NodeAgentBuilder listener(PodListener value) {
        listener = Objects.requireNonNull(value, "listener");
        return this;
    }

    /**
     * Sets what decides for the runtime which pods it never runs. A pod that is refused has failed, with the reason and the
     * message; its owner may make another. Asked once for each pod that the runtime does not know, after the node has found
     * that the pod fits; asked again if it throws. Default: all others run.
     */
    public NodeAgentBuilder admission(PodAdmission value) {
        admission = Objects.requireNonNull(value, "admission");
        return this;
    }

    /** Sets the listener of the caches. Default: none. */
    public NodeAgentBuilder metrics(PodcacheMetrics value) {
        metrics = Objects.requireNonNull(value, "metrics");
        return this;
    }

    /** Sets a wrapper of the caches, through which the agent then reads, for example to count reads. Default: none. */
    public NodeAgentBuilder reads(UnaryOperator<Caches> wrapper) {
        reads = Objects.requireNonNull(wrapper, "wrapper");
        return this;
    }

    /** Sets all options that a kubelet's configuration file has. */
    public NodeAgentBuilder configuration(KubeletConfiguration value) {
        caching = Objects.requireNonNull(value, "configuration").caching();
        heartbeats = value.heartbeats();
        rates = value.rates();
        clusterDomain = value.clusterDomain();
        registration = value.registration();
        taintsGiven |= !registration.taints().isEmpty();
        reservations = value.reservations();
        eviction = value.eviction();
        endpoint = value.endpoint();
        staticPods = value.staticPods();
        health = value.health();
        restarts = value.restarts();
        return this;
    }

    /**
     * Creates the agent. It watches its Node and the Services, and does nothing else until {@link NodeAgent#start}.
     *
     * @throws IllegalStateException if no node was named, or if a library that the agent needs is not on the class path;
     *     the message names the dependency to add
     * @throws IllegalArgumentException if this machine does not have what the options require; the message names the
     *     resource
     */
    public NodeAgent build() {
        if (node == null) {
            throw new IllegalStateException("the node has no name: call node(\"edge-1\") before build()");
        }
        NodeAgentOptions options = new NodeAgentOptions(
                node,
                facts == null
                        ? HostFacts.ofThisMachine(Path.of("").toAbsolutePath().getRoot())
                        : facts,
                new KubeletConfiguration(
                        caching,
                        heartbeats,
                        rates,
                        clusterDomain,
                        registration,
                        reservations,
                        eviction,
                        endpoint,
                        staticPods,
                        health,
                        restarts),
                runtime,
                capacity,
                conditions,
                images,
                registerAgain,
                taintsGiven,
                version,
                flags,
                scrape,
                server,
                listener,
                admission,
                metrics,
                reads,
                syncs,
                threadsOf);
        Closer opened = Closer.create();
        try {
            AgentServer connected = serverOf.apply(options);
            opened.register(connected::close);
            return new NodeAgent(options, connected, opened);
        } catch (Throwable e) {
            try {
                opened.close();
            } catch (Throwable more) {
                e.addSuppressed(more);
            }
            throw e;
        }
    }
}
