package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.events.EventBroadcaster;
import dev.podcache.kubelet.nodelease.NodeLeaseController;
import dev.podcache.kubelet.nodestatus.NodeStatusOptions;
import dev.podcache.kubelet.nodestatus.NodeStatusState;
import dev.podcache.kubelet.nodestatus.NodeStatusUpdater;
import dev.podcache.kubelet.nodestatus.RuntimeHealth;
import dev.podcache.kubelet.podconfig.ServiceAccountTokens;
import dev.podcache.kubelet.podconfig.ServiceLister;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.kubelet.podsync.ContainerHealth;
import dev.podcache.kubelet.podsync.KnownPods;
import dev.podcache.kubelet.podsync.PodConfiguration;
import dev.podcache.kubelet.podsync.PodListener;
import dev.podcache.kubelet.podsync.PodWorkers;
import dev.podcache.kubelet.podsync.ProbedHealth;
import dev.podcache.kubelet.podsync.SyncPeriods;
import dev.podcache.kubelet.probe.ProbeNetwork;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.node.NodeLister;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * A node of a cluster. Registers its Node, maintains the Node's status and Lease, resolves what the pods of the node get
 * from Secrets and ConfigMaps, has a {@link PodRuntime} run the pods, and reports their status.
 *
 * <p>{@link #start} starts the parts in the order of their dependencies: runtime health, node status, Lease, pod status,
 * pod workers, assigned pods. {@link #close} stops them in reverse order. The Node, the Lease and the pods remain in the
 * cluster for the next agent of the node.
 */
public final class NodeAgent implements AutoCloseable {

    private static final String COMPONENT = "podcache";

    private final NodeAgentOptions options;
    private final NodeLister lister;
    private final Caches caches;
    private final EventBroadcaster events;
    private final ServiceAccountTokens tokens;
    private final ServiceLister services;
    private final RuntimeHealth health;
    private final NodeStatusUpdater updater;
    private final NodeLeaseController lease;
    private final PodStatusManager statuses;
    private final KnownPods known = new KnownPods();
    private final TaskThreads threads;
    private final ProbeNetwork network;
    private final ProbedHealth probes;
    private final PodWorkers workers;
    private final Reflector<Pod> pods;
    private final AtomicBoolean following = new AtomicBoolean();
    private final AgentServices all;

    /**
     * Creates an agent that watches its Node and the Services, and does nothing else until started.
     *
     * @param ports used for everything, not closed
     * @param cachesOf creates the caches, whose TTL comes from the Node; closed with the agent
     * @param listener notified of the status of pods
     * @throws IllegalArgumentException if this machine does not have what the options require
     */
    public NodeAgent(
            NodePorts ports, NodeAgentOptions options, Function<NodeLister, Caches> cachesOf, PodListener listener) {
        Timekeeper timekeeper = ports.timekeeper();
        Recovery recovery = new Recovery(timekeeper);
        this.options = options;
        this.events = EventBroadcaster.to(ports.events(), COMPONENT, options.node(), timekeeper);
        this.health = new RuntimeHealth(options.runtime()::health, ImmutableMap.of(), timekeeper);
        NodeSelf self = new NodeSelf(options, events, health, timekeeper);
        // first, because it may throw, and nothing has to be closed yet
        NodeStatusOptions status = self.status(ports.reconnect());
        this.lister = NodeLister.following(options.node(), ports.node(), recovery);
        this.updater = new NodeStatusUpdater(ports.nodes(), lister, timekeeper, status);
        this.lease = new NodeLeaseController(ports.leases(), ports.nodes(), self.lease(ports.reconnect()), timekeeper);
        this.caches = cachesOf.apply(lister);
        this.tokens = new ServiceAccountTokens(ports.tokens(), timekeeper, NodeAgent::random);
        this.services = ServiceLister.following(ports.services(), recovery);
        this.statuses = new PodStatusManager(ports.podStatus(), known::get, timekeeper, NodeAgent::random);
        this.threads = options.threads().apply(timekeeper);
        this.network = new ProbeNetwork(timekeeper, options.version());
        this.probes = ProbedHealth.of(network, options.runtime(), events, threads, this::changed);
        this.workers = new PodWorkers(parts(listener, timekeeper), NodeAgent::random);
        this.pods = new Reflector<>(ports.pods(), workers, recovery);
        this.all = new AgentServices(ImmutableList.of(
                health,
                AgentServices.part("node status", updater::start, updater::close),
                lease,
                AgentServices.part("pod status", statuses::start, statuses::close),
                AgentServices.part("pod workers", () -> {}, this::endWorkers),
                AgentServices.part("assigned pods", this::followPods, this::leavePods)));
    }

    private PodWorkers.Parts parts(PodListener listener, Timekeeper timekeeper) {
        // nothing would answer the probes and hooks of containers that are not real
        boolean hollow = options.runtime() instanceof HollowRuntime;
        ObjectCaching caching = options.configuration().caching();
        return new PodWorkers.Parts(
                options.runtime(),
                new PodConfiguration(caches.secrets(), caches.configMaps(), services, tokens, events),
                hollow ? ContainerHealth.UNPROBED : probes,
                hollow ? Optional.empty() : Optional.of(network),
                statuses,
                events,
                known,
                pod -> lister.get(),
                SyncPeriods.of(caching.syncFrequency()),
                listener,
                threads,
                timekeeper);
    }

    /** Starts to work. Returns when all parts are started; none of them may have succeeded yet. */
    public void start() {
        all.start();
    }

    /** Returns the state of the Node's registration and status. */
    public NodeStatusState status() {
        return updater.state();
    }

    /** Returns the Node as last seen at the API server. */
    public Optional<Node> node() {
        return lister.get();
    }

    /** Returns the time since the Lease was renewed; empty if it never was. */
    public Optional<Duration> sinceRenewal() {
        return lease.sinceRenewal();
    }

    /** Returns the pods of the node as last seen. */
    public List<Pod> pods() {
        return ImmutableList.copyOf(known.all());
    }

    @Override
    public void close() {
        all.close();
        events.close();
        caches.closing().run();
        services.close();
        lister.close();
    }

    /** Watches the pods once the Node is known, because pods get and report the addresses of the Node. */
    private void followPods() {
        lister.addListener(this::goOnIfNodeIsKnown);
        goOnIfNodeIsKnown();
    }

    private void goOnIfNodeIsKnown() {
        if (lister.get().isPresent() && following.compareAndSet(false, true)) {
            // the Node is the owner of the Lease, and the last renewal may have come before the registration
            lease.renewSoon();
            pods.start();
        }
    }

    private void leavePods() {
        following.set(true);
        pods.close();
    }

    private void endWorkers() {
        workers.close();
        probes.close();
        network.close();
        threads.close();
    }

    private void changed(String podUid) {
        workers.changed(podUid);
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }
}
