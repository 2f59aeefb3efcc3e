package dev.podcache.kubelet.agent;

import com.google.common.base.Suppliers;
import com.google.common.collect.ImmutableList;
import com.google.common.io.Closer;
import com.google.common.util.concurrent.MoreExecutors;
import com.google.common.util.concurrent.Service;
import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.events.EventBroadcaster;
import dev.podcache.kubelet.eviction.PressureType;
import dev.podcache.kubelet.nodelease.NodeLeaseController;
import dev.podcache.kubelet.nodestatus.NodeStatusOptions;
import dev.podcache.kubelet.nodestatus.NodeStatusState;
import dev.podcache.kubelet.nodestatus.NodeStatusUpdater;
import dev.podcache.kubelet.nodestatus.RuntimeHealth;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.kubelet.runtime.RuntimeStatus;
import dev.podcache.kubelet.server.ComponentInfo;
import dev.podcache.kubelet.server.KubeletServer;
import dev.podcache.kubelet.server.KubeletServerBuilder;
import dev.podcache.kubelet.server.NodeView;
import dev.podcache.node.NodeLister;
import dev.podcache.reflector.Recovery;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node of a cluster. Registers its Node, maintains the Node's status and Lease, resolves what the pods of the node get
 * from Secrets and ConfigMaps, has a {@link PodRuntime} run the pods, and reports their status. Several agents may run in
 * one process. Thread-safe.
 *
 * <p>{@link #start} starts the parts in the order of their dependencies: the runtime and its health, the HTTPS endpoint,
 * node status, Lease, pod status, pod workers, static and assigned pods, eviction. {@link #close} first stops the health
 * and the endpoints, then the other parts in reverse order, and then closes the connections. The Node, the Lease and the
 * pods remain in the cluster for the next agent of the node.
 */
public final class NodeAgent implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(NodeAgent.class);

    /*
     * `lock` guards `started` and `closed`, and is held while the parts start, so that close() never misses a part. No
     * part waits for anything when it starts.
     */

    private static final String COMPONENT = "podcache";

    private final AgentServer server;
    private final PodRuntime runtime;
    private final Recovery recovery;
    private final NodeLister lister;
    private final EventBroadcaster events;
    private final TaskThreads threads;
    private final RuntimeHealth health;
    private final NodeStatusUpdater updater;
    private final NodeLeaseController lease;
    private final AgentPods pods;
    private final NodeEndpoint endpoint;
    private final HealthEndpoint healthEndpoint;
    private final Supplier<ComponentInfo> component;
    private final CountedPorts counted;
    private final boolean servesHttps;
    private final NodeView view;
    private final AgentServices all;
    private volatile boolean runtimeStarted;

    private final Object lock = new Object();
    private boolean started; // guarded by lock
    private boolean closed; // guarded by lock

    /**
     * Creates an agent that watches its Node and the Services, and does nothing else until started.
     *
     * @param opened takes what the caller has to close if this constructor throws
     */
    NodeAgent(NodeAgentOptions options, AgentServer server, Closer opened) {
        String node = options.node();
        this.counted = new CountedPorts(server.ports());
        NodePorts ports = counted.ports();
        Timekeeper timekeeper = ports.timekeeper();
        this.recovery = new Recovery(timekeeper);
        this.server = server;
        this.runtime = Objects.requireNonNull(
                options.runtime().apply(timekeeper), "the function of runtime(...) returned no runtime");
        this.events = EventBroadcaster.to(ports.events(), COMPONENT, node, timekeeper);
        opened.register(events::close);
        this.threads = options.threadsOf().apply(options.syncs(), timekeeper);
        opened.register(threads::close);
        NodeCalls calls = new NodeCalls(timekeeper, this::reportSoon);
        this.health = new RuntimeHealth(this::runtimeStatus, calls.checks(), threads::executeNow, timekeeper);
        NodeSelf self = new NodeSelf(options, this::isUnder);
        // before the Node is watched, because it may throw
        NodeStatusOptions status = self.status(events, runtime, health, this::httpsPort, ports.reconnect());
        this.lister = NodeLister.following(node, ports.node(), recovery);
        opened.register(lister::close);
        this.updater = new NodeStatusUpdater(ports.nodes(), lister, timekeeper, status);
        this.lease = new NodeLeaseController(ports.leases(), ports.nodes(), self.lease(ports.reconnect()), timekeeper);
        lease.pauseWhile(updater::isDeleted);
        this.pods = new AgentPods(
                options,
                options.reads().apply(server.caches(lister)),
                new AgentPods.AgentParts(
                        node,
                        options.facts(),
                        runtime,
                        calls,
                        lister,
                        events,
                        threads,
                        ports,
                        server.trustBundles(),
                        recovery),
                // the Node is the owner of the Lease, and the last renewal may have come before the registration
                new AgentPods.AgentHooks(() -> runtimeStarted, updater::syncSoon, lease::renewSoon),
                opened);
        this.endpoint = new NodeEndpoint(() -> endpointOptions(options, ports), updater::syncSoon, timekeeper);
        this.component = Suppliers.memoize(() -> newComponent(options));
        this.healthEndpoint = new HealthEndpoint(options.configuration().health(), component, timekeeper);
        this.servesHttps = options.configuration().endpoint().enabled();
        this.view = new AgentView(this, options, timekeeper);
        this.all = new AgentServices(ImmutableList.<Service>builder()
                .add(AgentServices.part("node status", updater::start, updater::close), lease)
                .addAll(pods.services())
                .build());
    }

    private boolean isUnder(PressureType pressure) {
        return pods.isUnder(pressure);
    }

    private KubeletServerBuilder endpointOptions(NodeAgentOptions options, NodePorts ports) {
        KubeletServerBuilder base = KubeletServer.builder(options.node(), ports.timekeeper())
                .pods(pods::all)
                .runtime(runtime)
                .component(component.get())
                .page(view)
                .probes(pods::probeSeries)
                .reviews(ports.reviews());
        return options.server()
                .apply(NodeEndpoint.configured(base, options.configuration().endpoint()));
    }

    /** Returns what the agent tells about itself. Called once, because the checks and the metrics have state. */
    private ComponentInfo newComponent(NodeAgentOptions options) {
        Timekeeper timekeeper = counted.ports().timekeeper();
        AgentChecks checks = new AgentChecks(timekeeper)
                .node(
                        updater,
                        counted,
                        options.configuration(),
                        () -> lister.get().isPresent())
                .lease(lease, counted)
                .workers(threads)
                .eviction(pods::sinceEvictionTick)
                .objects(new StuckObjects(() -> server.podcache().entries(), timekeeper));
        return checks.component(this, options)
                .withObjects(lister.name(), () -> server.podcache().entries());
    }

    /** Returns for how long the API server has answered none of the lists and watches of pods and Node; empty if it answers. */
    Optional<Duration> unansweredFor() {
        return recovery.failingFor();
    }

    /** Returns the health port; empty while nothing listens there. */
    OptionalInt healthPort() {
        return healthEndpoint.port();
    }

    /** Returns the port of the HTTPS endpoint; empty while nothing listens there. */
    OptionalInt httpsPort() {
        return endpoint.port();
    }

    /**
     * Returns a builder of an agent that uses the configuration of {@code client} and opens its own connections.
     *
     * @param client must stay open until the agent is closed; the agent never closes it
     */
    public static NodeAgentBuilder builder(KubernetesClient client) {
        Objects.requireNonNull(client, "client");
        return new NodeAgentBuilder(options -> Fabric8AgentServer.owning(
                Fabric8ApiServer.of(client, options.configuration().rates()), options));
    }

    /**
     * Returns a builder of an agent that shares an API server with other parts of the process, such as other agents.
     *
     * @param server must stay open until the agent is closed; the agent never closes it
     */
    public static NodeAgentBuilder builder(Fabric8ApiServer server) {
        Objects.requireNonNull(server, "server");
        return new NodeAgentBuilder(options -> new Fabric8AgentServer(server, false, options));
    }

    /**
     * Starts to work. Returns at once; nothing may have succeeded yet, and what fails is repeated. The node is registered
     * once the runtime has answered, or after 5 s, and once the HTTPS endpoint listens, or after 10 s. Static pods start
     * whether or not the API server answers. Idempotent.
     *
     * @throws IllegalStateException if the agent is closed
     */
    public void start() {
        synchronized (lock) {
            if (closed) {
                throw new IllegalStateException("the agent is closed: build another one");
            }
            if (started) {
                return;
            }
            started = true;
            health.onChange(updater::syncSoon);
            health.addListener(new FirstAnswer(), MoreExecutors.directExecutor());
            health.startAsync();
        }
        if (servesHttps) {
            endpoint.start(threads);
        } else {
            endpoint.skip();
        }
        healthEndpoint.start(threads);
    }

    /** Starts the runtime, until that succeeds, and returns its status. Called by one thread at a time. */
    private RuntimeStatus runtimeStatus() {
        if (!runtimeStarted) {
            runtime.listen(new Notifications());
            runtimeStarted = true;
            pods.followIfPossible();
        }
        return runtime.health();
    }

    private void startParts() {
        synchronized (lock) {
            if (!closed) {
                all.start();
            }
        }
    }

    private void reportSoon() {
        updater.syncSoon();
    }

    /** Returns the state of the Node's registration and status. */
    public NodeStatusState status() {
        return updater.state();
    }

    /**
     * Returns the Node as the agent's watch last saw it; empty until the watch has brought it, which can be after the
     * registration. Must not be modified. Does not block.
     */
    public Optional<Node> node() {
        return lister.get();
    }

    /** Returns the time since the Lease was renewed; empty if it never was. */
    public Optional<Duration> sinceRenewal() {
        return lease.sinceRenewal();
    }

    /**
     * Returns the pods of the node; unmodifiable. A pod of the API server is as last seen there. A static pod has the
     * status that the agent computed last. The pods must not be modified.
     */
    public List<Pod> pods() {
        return pods.all();
    }

    /** Returns what the agent has done, and what runs now. */
    public NodeCounts counts() {
        return counted.counts(pods);
    }

    /** Returns the cache of the pods' Secrets and ConfigMaps. Closed by {@link #close}. */
    public Podcache caches() {
        return server.podcache();
    }

    /** Returns what the page of the node shows. {@code PageServer} serves it to the browsers of this machine. */
    public NodeView view() {
        return view;
    }

    /**
     * Stops everything, but neither the pods nor the runtime's containers. Interrupts the calls of the runtime about pods,
     * and waits for them; afterwards, none begins that mounts volumes, or starts or stops a container. Waits at most 10 s
     * for each part. Closes the runtime, if it is AutoCloseable: it ends its threads, and leaves its containers. Idempotent; a
     * second caller does not wait.
     */
    @Override
    public void close() {
        synchronized (lock) {
            if (closed) {
                return;
            }
            closed = true;
        }
        health.stopAsync();
        endpoint.close();
        healthEndpoint.close();
        all.close();
        pods.endWorkers();
        events.close();
        pods.endServices();
        closeRuntime();
        lister.close();
        server.close();
    }

    /** The runtime is the user's code: what it throws must not leave the rest open. */
    private void closeRuntime() {
        if (runtime instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Exception | Error e) {
                if (e instanceof InterruptedException) {
                    Thread.currentThread().interrupt();
                }
                log.warn("the container runtime was not closed; the agent is closed without it", e);
            }
        }
    }

    /** Starts the parts when the runtime has answered for the first time, or does not answer, and the endpoint listens. */
    private final class FirstAnswer extends Service.Listener {

        @Override
        public void running() {
            endpoint.attempted().thenRun(NodeAgent.this::startParts);
        }
    }

    /** Passes on what the runtime says. */
    private final class Notifications implements RuntimeEvents {

        @Override
        public void changed(String podUid) {
            pods.changed(podUid);
        }

        @Override
        public void healthChanged() {
            health.query();
        }
    }
}
