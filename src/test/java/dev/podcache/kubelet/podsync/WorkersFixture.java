package dev.podcache.kubelet.podsync;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.podconfig.ServiceAccountTokens;
import dev.podcache.kubelet.podconfig.ServiceLister;
import dev.podcache.kubelet.podconfig.TrustBundles;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.kubelet.probe.ProbeNetwork;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.kubelet.runtime.HollowStage;
import dev.podcache.kubelet.runtime.LocalVolumes;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.RuntimeEvents;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FakeTokenRequests;
import dev.podcache.testing.FakeTrustBundles;
import dev.podcache.testing.ForwardingObjectApi;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RecordedEvents;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.WatchedCaches;
import dev.podcache.time.OverdueCalls;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * The workers of one node under strategy WATCH, on an in-memory server. Syncs run on the thread that
 * requests them.
 */
public final class WorkersFixture implements AutoCloseable {

    static final String NODE = "worker-1";
    static final Duration SYNC = Duration.ofMinutes(1);

    final ManualTimekeeper timekeeper;
    final FakeApiServer server;
    final RecordedEvents events = new RecordedEvents();
    final KnownPods known = new KnownPods();
    final FlakyRuntime runtime;
    final Manager<Secret> secrets;

    private final WatchedCaches caches;
    private final boolean ownsServer;
    private final ServiceLister services;
    final FakeTrustBundles trustBundles = new FakeTrustBundles();
    private final TrustBundles bundles;
    final PodStatusManager statuses;
    final TaskThreads threads;
    final WorkerParts parts;
    final PodWorkers workers;
    final ServerPods assigned;
    private final Reflector<Pod> pods;

    PodAdmission admission = PodAdmission.ALL;

    /** Called with the name of a port before each call of it, other than the runtime's. */
    Consumer<String> calling = port -> {};

    final FakeTokenRequests tokenRequests = new FakeTokenRequests();
    private final Options options;
    private final ProbeNetwork network;
    private final ContainerHealth health;

    /** How the syncs run, and whether containers are probed. */
    record Options(Executor threads, int limit, boolean probed, List<HollowStage> stages) {
        static final Options DEFAULT = new Options(Runnable::run, 8, false, List.of());

        Options on(Executor executor, int atATime) {
            return new Options(executor, atATime, probed, stages);
        }

        Options withProbes() {
            return new Options(threads, limit, true, stages);
        }

        Options with(HollowStage stage) {
            return new Options(threads, limit, probed, List.of(stage));
        }
    }

    /** What the processes of a node have in common. */
    private record FakeNode(ManualTimekeeper timekeeper, FakeApiServer server) {}

    WorkersFixture() {
        this(Options.DEFAULT);
    }

    WorkersFixture(Options options) {
        this(options, new ManualTimekeeper());
    }

    private WorkersFixture(Options options, ManualTimekeeper timekeeper) {
        this(options, timekeeper, new HollowRuntime(timekeeper, options.stages, pod -> List.of()));
    }

    /** Makes a node with another runtime. */
    WorkersFixture(Options options, ManualTimekeeper timekeeper, PodRuntime runtime) {
        this(options, new FakeNode(timekeeper, new FakeApiServer(timekeeper)), new FlakyRuntime(runtime), true);
    }

    /** Returns a node with a runtime that a test has made. */
    static WorkersFixture on(Options options, ManualTimekeeper timekeeper, FlakyRuntime runtime) {
        return new WorkersFixture(options, new FakeNode(timekeeper, new FakeApiServer(timekeeper)), runtime, true);
    }

    private WorkersFixture(Options options, FakeNode node, FlakyRuntime runtime, boolean ownsServer) {
        this.timekeeper = node.timekeeper;
        this.server = node.server;
        this.options = options;
        this.ownsServer = ownsServer;
        this.runtime = runtime;
        caches = WatchedCaches.of(server);
        Recovery recovery = new Recovery(timekeeper, () -> 0);
        services = ServiceLister.following(server.listerWatcher(ObjectKind.SERVICE, "", ""), recovery);
        secrets = caches.secrets();
        ObjectApi<Pod> api = new ForwardingObjectApi<>(server.api(ObjectKind.POD, Duration.ofSeconds(10))) {
            @Override
            public CompletableFuture<Pod> patchStatus(ObjectKey key, String patch) {
                calling.accept("api");
                return super.patchStatus(key, patch);
            }
        };
        statuses = new PodStatusManager(api, this::knownPod, timekeeper, () -> 0);
        ServiceAccountTokens tokens = new ServiceAccountTokens(tokenRequests, timekeeper, () -> 0.0);
        bundles = new TrustBundles(trustBundles, recovery, timekeeper, new UsedBundles());
        threads = TaskThreads.on(options.threads, options.limit, timekeeper);
        network = new ProbeNetwork(timekeeper, "1.36");
        health = options.probed
                ? ProbedHealth.of(network, runtime, events, threads, this::probed)
                : ContainerHealth.UNPROBED;
        parts = new WorkerParts(
                runtime,
                new PodConfiguration(
                        secrets,
                        caches.configMaps(),
                        services,
                        tokens,
                        bundles,
                        "cluster.local",
                        LocalVolumes.of(runtime),
                        events),
                health,
                Optional.of(network),
                statuses,
                this::event,
                known,
                this::nodeOf,
                SyncPeriods.of(SYNC),
                new Reports(),
                threads,
                timekeeper);
        workers = new PodWorkers(
                parts,
                pod -> admission.rejection(pod),
                new OverdueCalls("PodRuntime.pods()", SYNC, timekeeper, () -> {}),
                () -> 0);
        assigned = new ServerPods(workers);
        runtime.listen(new PodNotifications());
        workers.follow(secrets);
        workers.follow(caches.configMaps());
        pods = new Reflector<>(server.listerWatcher(ObjectKind.POD, "", "spec.nodeName=" + NODE), assigned, recovery);
    }

    private final class UsedBundles implements TrustBundles.BundleEvents {

        @Override
        public void found(Manager<GenericKubernetesResource> named) {
            workers.follow(named);
        }

        @Override
        public void changed(String podUid) {
            workers.changed(podUid);
        }
    }

    private void changed(String podUid) {
        workers.changed(podUid);
    }

    private void probed(String podUid) {
        workers.probed(podUid);
    }

    private Optional<Pod> knownPod(String uid) {
        calling.accept("known");
        return known.get(uid);
    }

    private void event(ObjectReference about, EventRecorder.EventType type, String reason, String message) {
        calling.accept("events");
        events.event(about, type, reason, message);
    }

    private Optional<Node> nodeOf(Pod pod) {
        calling.accept("node");
        return Optional.empty();
    }

    private final class PodNotifications implements RuntimeEvents {
        @Override
        public void changed(String podUid) {
            WorkersFixture.this.changed(podUid);
        }

        @Override
        public void healthChanged() {}
    }

    /** Receives what the workers report of a pod. */
    BiConsumer<Pod, PodStatus> reported = (pod, status) -> {};

    private final class Reports implements PodListener {
        @Override
        public void synced(Pod pod, PodStatus status) {
            calling.accept("listener");
            reported.accept(pod, status);
        }

        @Override
        public void ended(Pod pod) {}
    }

    WorkersFixture start() {
        statuses.start();
        pods.start();
        settle();
        return this;
    }

    /** Returns a new process for the same node, without any state of this one. */
    WorkersFixture successor() {
        HollowRuntime fresh = new HollowRuntime(timekeeper, options.stages, pod -> List.of());
        return new WorkersFixture(options, new FakeNode(timekeeper, server), new FlakyRuntime(fresh), false);
    }

    /** Returns a new process for the same node, whose runtime has gone on meanwhile. */
    WorkersFixture successorWithThisRuntime() {
        return new WorkersFixture(options, new FakeNode(timekeeper, server), runtime, false);
    }

    /** Stops the process without stopping the pods. */
    void stop() {
        pods.close();
        workers.close();
        if (health instanceof ProbedHealth probed) {
            probed.close();
        }
        network.close();
        statuses.close();
    }

    /** Runs the pending status reports. */
    void settle() {
        timekeeper.advance(Duration.ofMillis(10));
    }

    Secret secret(String name, String value) {
        return server.cluster().create(Secrets.of("shop", name, value));
    }

    Pod create(PodBuilder pod) {
        Pod created = server.cluster().create(pod.build());
        settle();
        return created;
    }

    /** Returns a pod of the node with one container, {@code main}. */
    public static PodBuilder pod(String name) {
        return Pods.assigned(NODE, name);
    }

    /** Lets the container take its environment from a Secret. */
    static PodBuilder withEnvFrom(PodBuilder pod, String secret) {
        return pod.editSpec()
                .editFirstContainer()
                .addNewEnvFrom()
                .withNewSecretRef(secret, null)
                .endEnvFrom()
                .endContainer()
                .endSpec();
    }

    PodStatus status(String pod) {
        return server.cluster().get(Pod.class, "shop", pod).getStatus();
    }

    ContainerStatus container(String pod, String name) {
        return status(pod).getContainerStatuses().stream()
                .filter(each -> each.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Returns the events so far, as {@code Type Reason Message}, without those of each container that starts. */
    List<String> lines() {
        return events.lines().stream()
                .filter(line -> !line.startsWith("Normal Pulled ")
                        && !line.equals("Normal Created Container created")
                        && !line.equals("Normal Started Container started"))
                .toList();
    }

    /** Returns why a container waits, as {@code reason: message}. */
    String waiting(String pod, String name) {
        ContainerState state = container(pod, name).getState();
        ContainerStateWaiting waiting = state.getWaiting();
        return waiting == null ? "does not wait" : waiting.getReason() + ": " + waiting.getMessage();
    }

    boolean exists(String pod) {
        try {
            server.cluster().get(Pod.class, "shop", pod);
            return true;
        } catch (RuntimeException gone) {
            return false;
        }
    }

    /** Stops the process, and closes its connections. */
    void end() {
        stop();
        threads.close();
        services.close();
        bundles.close();
        trustBundles.close();
        caches.close();
    }

    @Override
    public void close() {
        end();
        if (ownsServer) {
            server.close();
            timekeeper.close();
        }
    }
}
