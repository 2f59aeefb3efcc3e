package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.kubelet.events.EventBroadcaster;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.nodestatus.RuntimeHealth;
import dev.podcache.kubelet.podconfig.ContainerConfiguration;
import dev.podcache.kubelet.podconfig.ServiceAccountTokens;
import dev.podcache.kubelet.podconfig.ServiceLister;
import dev.podcache.kubelet.podconfig.TrustBundles;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.kubelet.podsync.ContainerHealth;
import dev.podcache.kubelet.podsync.KnownPods;
import dev.podcache.kubelet.podsync.PodAdmission;
import dev.podcache.kubelet.podsync.PodConfiguration;
import dev.podcache.kubelet.podsync.PodListener;
import dev.podcache.kubelet.podsync.PodWorkers;
import dev.podcache.kubelet.podsync.ServerPods;
import dev.podcache.kubelet.podsync.SyncPeriods;
import dev.podcache.kubelet.podsync.WorkerParts;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.LocalVolumes;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.time.Durations;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Many hollow nodes in one process, as the load of a control plane: each registers, reports its status, renews its Lease,
 * and runs its pods on a {@link HollowRuntime}, which reads their Secrets and ConfigMaps by name as a kubelet does. All of
 * them share connections, one watch each of Nodes, pods and Services, timers and threads. Thread-safe.
 *
 * <p>The client's identity must be allowed to list and watch all Nodes, pods and Services, to write Nodes, their Leases and
 * the statuses of pods, and to read the pods' Secrets and ConfigMaps. A node's own identity is not enough: it may list the
 * pods of one node only.
 *
 * <p>Other programs must not use the names of these nodes. The Nodes remain in the cluster when this is closed.
 */
public final class HollowNodes implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int SYNC_THREADS = 4;

    /** How many nodes register at the same time. */
    private static final int REGISTERING = 32;

    /** Of how many pods the status is reported at the same time: a slow server must not make pods of many nodes wait. */
    private static final int POD_REPORTS = 64;

    /** What a kubelet reports of each container that starts: thousands of hollow pods would only fill the server with it. */
    private static final ImmutableSet<String> STARTS = ImmutableSet.of("Pulled", "Created", "Started");

    private final Fabric8ApiServer server;
    private final boolean ownsServer;
    private final List<HollowNode> nodes = new ArrayList<>();
    private final Set<String> registered = ConcurrentHashMap.newKeySet();
    private final Set<String> running = ConcurrentHashMap.newKeySet();
    private final AtomicInteger nextToStart = new AtomicInteger();
    private final AtomicBoolean following = new AtomicBoolean();
    private final RuntimeHealth health;
    private final SharedNodes shared;
    private final Podcache cache;
    private final ServiceLister services;
    private final TrustBundles bundles;
    private final EventBroadcaster events;
    private final PodStatusManager statuses;
    private final KnownPods known = new KnownPods();
    private final TaskThreads threads;
    private final PodWorkers workers;
    private final Reflector<Node> nodeWatch;
    private final Reflector<Pod> podWatch;

    /** Throws before anything else has to be closed than {@code server}. */
    private HollowNodes(Fabric8ApiServer server, boolean ownsServer, int count, HollowTemplate template) {
        this.server = server;
        this.ownsServer = ownsServer;
        SyncPeriods periods = SyncPeriods.of(Durations.positive("syncFrequency", template.syncFrequency));
        Timekeeper timekeeper = server.timekeeper();
        Recovery recovery = new Recovery(timekeeper);
        HollowPodIps ips = new HollowPodIps();
        HollowRuntime runtime = new HollowRuntime(timekeeper, template.stages, pod -> List.of(ips.of(pod)));
        threads = TaskThreads.named("podcache-hollow", SYNC_THREADS, timekeeper);
        health = new RuntimeHealth(runtime::health, ImmutableMap.of(), threads::executeNow, timekeeper);
        shared = new SharedNodes(this::followPods);
        HollowNode.Shared parts = new HollowNode.Shared(
                template,
                server.api(ObjectKind.NODE, TIMEOUT),
                server.api(ObjectKind.LEASE, TIMEOUT),
                health,
                timekeeper);
        for (int i = 0; i < count; i++) {
            nodes.add(new HollowNode(parts, i, shared.follow(template.name(i))));
            String name = template.name(i);
            shared.follow(name).addListener(() -> nodeChanged(name));
        }
        cache = Podcache.builder(server).strategy(template.strategy).build();
        services = ServiceLister.following(server.listerWatcher(ObjectKind.SERVICE, "", ""), recovery);
        events = EventBroadcaster.to(server.api(ObjectKind.EVENT, TIMEOUT), "podcache", template.prefix, timekeeper);
        statuses = new PodStatusManager(
                server.api(ObjectKind.POD, TIMEOUT), known::get, timekeeper, HollowNodes::random, POD_REPORTS);
        ServiceAccountTokens tokens =
                new ServiceAccountTokens(server.tokenRequests(TIMEOUT), timekeeper, HollowNodes::random);
        bundles = new TrustBundles(
                new ServedTrustBundles(server, cache::objects),
                recovery,
                timekeeper,
                new BundleChanges(this::workers, template.strategy));
        workers = new PodWorkers(
                new WorkerParts(
                        runtime,
                        new PodConfiguration(
                                cache.secrets(),
                                cache.configMaps(),
                                services,
                                tokens,
                                bundles,
                                ContainerConfiguration.DEFAULT_CLUSTER_DOMAIN,
                                LocalVolumes.of(runtime),
                                events),
                        ContainerHealth.UNPROBED,
                        Optional.empty(),
                        statuses,
                        this::record,
                        known,
                        pod -> shared.get(pod.getSpec().getNodeName()),
                        periods,
                        new RunningPods(),
                        threads,
                        timekeeper),
                PodAdmission.ALL,
                new NodeCalls(timekeeper, () -> {}).listing(),
                HollowNodes::random);
        runtime.listen(new HollowNotifications());
        nodeWatch = new Reflector<>(server.listerWatcher(ObjectKind.NODE, "", ""), shared, recovery);
        podWatch = new Reflector<>(
                server.listerWatcher(ObjectKind.POD, "", "spec.nodeName!="),
                new HollowPods(shared, new ServerPods(workers), ips),
                recovery);
        if (template.strategy != ChangeDetectionStrategy.GET) {
            workers.follow(cache.secrets());
            workers.follow(cache.configMaps());
        }
    }

    /**
     * Starts hollow nodes and returns at once. The nodes register one after the other, some at the same time.
     *
     * @param client used for everything; not closed
     * @param count the number of nodes, at least 1
     * @throws IllegalArgumentException if {@code count} is not positive, or the template is not valid
     */
    public static HollowNodes start(KubernetesClient client, int count, HollowTemplate template) {
        // the nodes of a real cluster have a limit each
        Fabric8ApiServer own = Fabric8ApiServer.of(client, RequestLimit.UNLIMITED);
        try {
            return start(own, true, count, template);
        } catch (RuntimeException | Error e) {
            own.close();
            throw e;
        }
    }

    /**
     * As {@link #start(KubernetesClient, int, HollowTemplate)}, without the threads and connections of a client.
     *
     * @param server with a {@link RequestLimit} for so many nodes; not closed
     */
    public static HollowNodes start(Fabric8ApiServer server, int count, HollowTemplate template) {
        return start(Objects.requireNonNull(server, "server"), false, count, template);
    }

    private static HollowNodes start(Fabric8ApiServer server, boolean owned, int count, HollowTemplate template) {
        if (count <= 0) {
            throw new IllegalArgumentException("the number of hollow nodes must be positive, but is " + count);
        }
        HollowNodes nodes = new HollowNodes(server, owned, count, Objects.requireNonNull(template, "template"));
        nodes.health.startAsync().awaitRunning();
        nodes.statuses.start();
        nodes.nodeWatch.start();
        return nodes;
    }

    /** Returns the number of nodes. */
    public int count() {
        return nodes.size();
    }

    /** Returns how many nodes are registered. A hollow node is Ready from its registration on. */
    public int ready() {
        return registered.size();
    }

    /** Returns the number of pods on these nodes. */
    public int pods() {
        return known.all().size();
    }

    /** Returns the number of pods whose phase is Running, as computed here; the API server may learn of it later. */
    public int running() {
        return running.size();
    }

    /** Returns the longest time since the renewal of a Lease; empty if none was renewed yet. */
    public Optional<Duration> oldestRenewal() {
        return nodes.stream()
                .map(HollowNode::sinceRenewal)
                .flatMap(Optional::stream)
                .max(Duration::compareTo);
    }

    /** Stops all nodes. Nodes, Leases and pods remain in the cluster. Idempotent. */
    @Override
    public void close() {
        podWatch.close();
        nodeWatch.close();
        workers.close();
        threads.close();
        nodes.forEach(HollowNode::close);
        statuses.close();
        health.stopAsync();
        events.close();
        services.close();
        bundles.close();
        cache.close();
        if (ownsServer) {
            server.close();
        }
    }

    /** Starts the first nodes and the watch of pods, once it is known which Nodes exist. */
    private void followPods() {
        if (following.compareAndSet(false, true)) {
            for (int i = 0; i < REGISTERING; i++) {
                startNext();
            }
            podWatch.start();
        }
    }

    private void startNext() {
        int next = nextToStart.getAndIncrement();
        if (next < nodes.size()) {
            HollowNode node = nodes.get(next);
            node.start();
            if (node.isRegistered()) {
                // by an earlier process: nothing will say that it was registered
                server.timekeeper().workers().execute(this::startNext);
            }
        }
    }

    private void nodeChanged(String name) {
        if (shared.get(name).isEmpty()) {
            registered.remove(name);
        } else if (registered.add(name) && following.get()) {
            server.timekeeper().workers().execute(this::startNext);
        }
    }

    private void record(ObjectReference about, EventRecorder.EventType type, String reason, String message) {
        if (!STARTS.contains(reason)) {
            events.event(about, type, reason, message);
        }
    }

    private PodWorkers workers() {
        return workers;
    }

    private static double random() {
        return ThreadLocalRandom.current().nextDouble();
    }

    private final class HollowNotifications implements RuntimeEvents {

        @Override
        public void changed(String podUid) {
            workers.changed(podUid);
        }

        @Override
        public void healthChanged() {}
    }

    /** Counts the pods that run. */
    private final class RunningPods implements PodListener {

        @Override
        public void synced(Pod pod, PodStatus status) {
            if ("Running".equals(status.getPhase())) {
                running.add(pod.getMetadata().getUid());
            } else {
                running.remove(pod.getMetadata().getUid());
            }
        }

        @Override
        public void ended(Pod pod) {
            running.remove(pod.getMetadata().getUid());
        }
    }
}
