package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.io.Closer;
import com.google.common.util.concurrent.Service;
import dev.podcache.kubelet.events.EventBroadcaster;
import dev.podcache.kubelet.eviction.EvictablePods;
import dev.podcache.kubelet.eviction.Eviction;
import dev.podcache.kubelet.eviction.EvictionManager;
import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.kubelet.eviction.PressureType;
import dev.podcache.kubelet.host.HostFacts;
import dev.podcache.kubelet.podconfig.ServiceAccountTokens;
import dev.podcache.kubelet.podconfig.ServiceLister;
import dev.podcache.kubelet.podconfig.TrustBundleSource;
import dev.podcache.kubelet.podconfig.TrustBundles;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.kubelet.podsync.ContainerHealth;
import dev.podcache.kubelet.podsync.KnownPods;
import dev.podcache.kubelet.podsync.NodeAdmission;
import dev.podcache.kubelet.podsync.PodAdmission;
import dev.podcache.kubelet.podsync.PodConfiguration;
import dev.podcache.kubelet.podsync.PodWorkers;
import dev.podcache.kubelet.podsync.ProbedHealth;
import dev.podcache.kubelet.podsync.SyncPeriods;
import dev.podcache.kubelet.podsync.WorkerParts;
import dev.podcache.kubelet.probe.ProbeNetwork;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.LocalVolumes;
import dev.podcache.kubelet.runtime.PodIsolation;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.server.ProbeSeries;
import dev.podcache.kubelet.staticpods.MirrorPods;
import dev.podcache.kubelet.staticpods.StaticPodFolder;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.node.NodeLister;
import dev.podcache.object.ObjectKey;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodOrigin;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an agent does with pods: follows those that are assigned to its node and those in files, runs them, reports their
 * status, and evicts them under pressure. Thread-safe.
 */
final class AgentPods implements EvictablePods {

    private static final Logger log = LoggerFactory.getLogger(AgentPods.class);
    private static final Duration NODE_TIMEOUT = Duration.ofSeconds(5);

    private final AgentParts parts;
    private final AgentHooks hooks;
    private final KnownPods known = new KnownPods();
    private final ServiceLister services;
    private final TrustBundles bundles;
    private final PodStatusManager statuses;
    private final NodeAdmission fit;
    private final PodAdmission own;
    private final ProbeNetwork network;
    private final ProbedHealth probes;
    private final PodWorkers workers;
    private final EvictionManager eviction;
    private final NodePods nodePods;
    private final Reflector<Pod> assigned;
    private final AtomicBoolean following = new AtomicBoolean();
    private volatile boolean started;

    /** The parts of the agent that its pods need. */
    record AgentParts(
            String node,
            HostFacts facts,
            PodRuntime runtime,
            NodeCalls calls,
            NodeLister lister,
            EventBroadcaster events,
            TaskThreads threads,
            NodePorts ports,
            TrustBundleSource trustBundles,
            Recovery recovery) {}

    /**
     * What the agent and its pods tell each other.
     *
     * @param runtimeStarted whether the runtime has started
     * @param pressureChanged called when the pressure of the node has changed
     * @param nodeIsKnown called once, when the Node is known for the first time
     */
    record AgentHooks(BooleanSupplier runtimeStarted, Runnable pressureChanged, Runnable nodeIsKnown) {}

    /**
     * Makes an instance that watches the Services, and does nothing else until started.
     *
     * @param opened takes what the caller has to close if this constructor throws, or a later one
     */
    AgentPods(NodeAgentOptions options, Caches caches, AgentParts parts, AgentHooks hooks, Closer opened) {
        this.parts = parts;
        this.hooks = hooks;
        NodePorts ports = parts.ports;
        this.services = ServiceLister.following(ports.services(), parts.recovery);
        opened.register(services::close);
        ChangeDetectionStrategy strategy = options.configuration().caching().strategy();
        this.bundles = new TrustBundles(
                parts.trustBundles, parts.recovery, ports.timekeeper(), new BundleChanges(this::workers, strategy));
        opened.register(bundles::close);
        MirrorPods mirrors =
                new MirrorPods(ports.podStatus(), parts.lister, ports.timekeeper(), this::mirrorPodsChanged);
        this.statuses =
                new PodStatusManager(ports.podStatus(), known.shownBy(mirrors), ports.timekeeper(), AgentPods::random);
        this.own = options.admission();
        this.fit = new NodeAdmission(
                new NodeAdmission.AskedNode(
                        parts.facts.operatingSystem(), pod -> parts.lister.get(), pod -> askForNode()),
                this::active,
                statuses::hasStatus,
                PodIsolation.of(parts.runtime));
        this.network = new ProbeNetwork(ports.timekeeper(), options.version());
        opened.register(network::close);
        this.probes = ProbedHealth.of(network, parts.runtime, parts.events, parts.threads, this::probed);
        opened.register(probes::close);
        this.workers =
                new PodWorkers(workerParts(options, caches), this::rejection, parts.calls.listing(), AgentPods::random);
        opened.register(workers::close);
        this.eviction = NodeEviction.manager(options, parts, hooks, this);
        if (strategy != ChangeDetectionStrategy.GET) {
            workers.follow(caches.secrets());
            workers.follow(caches.configMaps());
        }
        this.nodePods = new NodePods(
                workers,
                mirrors,
                options.configuration().staticPods(),
                new StaticPodFolder.FolderParts(parts.node, parts.events, parts.threads, ports.timekeeper()));
        this.assigned = new Reflector<>(ports.pods(), nodePods, parts.recovery);
    }

    private WorkerParts workerParts(NodeAgentOptions options, Caches caches) {
        NodePorts ports = parts.ports;
        ServiceAccountTokens tokens = new ServiceAccountTokens(ports.tokens(), ports.timekeeper(), AgentPods::random);
        // nothing would answer the probes and hooks of containers that are not real
        boolean hollow = parts.runtime instanceof HollowRuntime;
        return new WorkerParts(
                parts.runtime,
                new PodConfiguration(
                        caches.secrets(),
                        caches.configMaps(),
                        services,
                        tokens,
                        bundles,
                        options.configuration().clusterDomain(),
                        LocalVolumes.of(parts.runtime),
                        parts.events),
                hollow ? ContainerHealth.UNPROBED : probes,
                hollow ? Optional.empty() : Optional.of(network),
                statuses,
                parts.events,
                known,
                pod -> parts.lister.get(),
                SyncPeriods.of(options.configuration().caching().syncFrequency())
                        .withLongestRestart(options.configuration().restarts().longest()),
                options.listener(),
                parts.threads,
                ports.timekeeper());
    }

    /** Returns what is to be started in this order, after the Lease. */
    ImmutableList<Service> services() {
        return ImmutableList.of(
                AgentServices.part("pod status", statuses::start, statuses::close),
                AgentServices.part("pod workers", () -> {}, this::endWorkers),
                AgentServices.part("assigned pods", this::follow, this::leave),
                AgentServices.part("eviction", eviction::start, eviction::close));
    }

    /** Returns the pods of the node as last seen, static pods with their newest status; unmodifiable. */
    List<Pod> all() {
        List<Pod> all = known.all();
        // a node has many pods, few of which are static
        return all.stream().anyMatch(PodOrigin::isStatic)
                ? all.stream().map(this::withStatusOfStatic).toList()
                : all;
    }

    private static Pod withStatus(Pod pod, PodStatus status) {
        Pod shown = new Pod();
        shown.setApiVersion(pod.getApiVersion());
        shown.setKind(pod.getKind());
        shown.setMetadata(pod.getMetadata());
        shown.setSpec(pod.getSpec());
        shown.setStatus(status);
        return shown;
    }

    /** Follows upstream's {@code GetPods}: the status that the API server shows is that of a mirror pod. */
    private Pod withStatusOfStatic(Pod pod) {
        return PodOrigin.isStatic(pod)
                ? statuses.getPodStatus(pod.getMetadata().getUid())
                        .map(status -> withStatus(pod, status))
                        .orElse(pod)
                : pod;
    }

    boolean isUnder(PressureType pressure) {
        return eviction.isUnder(pressure);
    }

    Duration sinceEvictionTick() {
        return eviction.sinceTick();
    }

    Map<String, Long> evictions() {
        return eviction.evictions();
    }

    /** Returns how many checks have ended, by probe and result. */
    Map<String, Map<String, Long>> probes() {
        return probes.counts().entrySet().stream()
                .collect(ImmutableMap.toImmutableMap(probe -> probe.getKey().toString(), Map.Entry::getValue));
    }

    /** Returns what the checks of each probe have shown. */
    List<ProbeSeries> probeSeries() {
        return probes.counted().stream()
                .map(each -> new ProbeSeries(
                        each.pod(),
                        each.container(),
                        each.kind().toString(),
                        each.results(),
                        each.durations(),
                        each.seconds()))
                .toList();
    }

    /** Returns the newest statuses of the pods that have one. */
    List<PodStatus> statuses() {
        return known.all().stream()
                .flatMap(pod -> statuses.getPodStatus(pod.getMetadata().getUid()).stream())
                .toList();
    }

    /** Has a pod synced, because the runtime has news of it. */
    void changed(String podUid) {
        workers.changed(podUid);
    }

    private void probed(String podUid) {
        workers.probed(podUid);
    }

    private Optional<PodRejection> rejection(Pod pod) {
        // containers that are not real use nothing of the node
        Optional<PodRejection> pressure =
                parts.runtime instanceof HollowRuntime ? Optional.empty() : eviction.rejection(pod);
        return pressure.or(() -> fit.rejection(pod)).or(() -> own.rejection(pod));
    }

    /** Asks for the Node, for at most a few seconds. */
    private Optional<Node> askForNode() {
        Timekeeper.Scheduled call = parts.threads.beginCall();
        try {
            CompletableFuture<Node> answer = parts.ports.nodes().get(ObjectKey.validatedClusterScoped(parts.node));
            return parts.ports.timekeeper().await(answer, NODE_TIMEOUT) ? Optional.of(answer.join()) : Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } catch (CompletionException e) {
            log.debug("Node {} was not read; deciding by what its watch has shown", parts.node, e);
            return Optional.empty();
        } finally {
            call.cancel();
        }
    }

    @Override
    public List<Pod> active() {
        return known.all().stream().filter(this::isActive).toList();
    }

    private boolean isActive(Pod pod) {
        return !PodEnd.isTerminal(pod)
                && statuses.getPodStatus(pod.getMetadata().getUid())
                        .map(status -> !PodEnd.isTerminal(status.getPhase()))
                        .orElse(true);
    }

    @Override
    public CompletableFuture<Void> evict(Eviction ordered) {
        return workers.evict(ordered);
    }

    private void follow() {
        started = true;
        parts.lister.addListener(this::followIfPossible);
        followIfPossible();
    }

    /**
     * Starts the static pods once the runtime has started, and watches the others once the Node is known, because pods
     * report its addresses.
     */
    void followIfPossible() {
        if (started && hooks.runtimeStarted.getAsBoolean()) {
            nodePods.startStaticPods();
            if (parts.lister.get().isPresent() && following.compareAndSet(false, true)) {
                hooks.nodeIsKnown.run();
                nodePods.nodeIsKnown();
                assigned.start();
            }
        }
        nodePods.nodeChanged();
    }

    private void leave() {
        following.set(true);
        nodePods.close();
        assigned.close();
    }

    private void mirrorPodsChanged() {
        statuses.mirrorPodsChanged();
    }

    /** Ends the workers and their threads. Idempotent. */
    void endWorkers() {
        workers.close();
        probes.close();
        network.close();
        parts.threads.close();
    }

    /** Stops following the Services and the trust bundles. */
    void endServices() {
        services.close();
        bundles.close();
    }

    private PodWorkers workers() {
        return workers;
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }
}
