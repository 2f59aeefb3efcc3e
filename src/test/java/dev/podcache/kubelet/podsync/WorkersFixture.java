package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.podconfig.ServiceAccountTokens;
import dev.podcache.kubelet.podconfig.ServiceLister;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.kubelet.runtime.HollowRuntime;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FakeTokenRequests;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RecordedEvents;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.WatchedCaches;
import dev.podcache.time.TaskThreads;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.Optional;

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
    private final PodStatusManager statuses;
    final PodWorkers workers;
    private final Reflector<Pod> pods;

    WorkersFixture() {
        this(new ManualTimekeeper());
    }

    private WorkersFixture(ManualTimekeeper timekeeper) {
        this(timekeeper, new FakeApiServer(timekeeper), true);
    }

    private WorkersFixture(ManualTimekeeper timekeeper, FakeApiServer server, boolean ownsServer) {
        this.ownsServer = ownsServer;
        this.timekeeper = timekeeper;
        this.server = server;
        runtime = new FlakyRuntime(new HollowRuntime(timekeeper));
        caches = WatchedCaches.of(server);
        Recovery recovery = new Recovery(timekeeper, () -> 0);
        services = ServiceLister.following(server.listerWatcher(ObjectKind.SERVICE, "", ""), recovery);
        secrets = caches.secrets();
        statuses = new PodStatusManager(
                server.api(ObjectKind.POD, Duration.ofSeconds(10)), known::get, timekeeper, () -> 0);
        ServiceAccountTokens tokens = new ServiceAccountTokens(new FakeTokenRequests(), timekeeper, () -> 0.0);
        workers = new PodWorkers(
                new PodWorkers.Parts(
                        runtime,
                        new PodConfiguration(secrets, caches.configMaps(), services, tokens, events),
                        ContainerHealth.UNPROBED,
                        statuses,
                        events,
                        known,
                        pod -> Optional.empty(),
                        SyncPeriods.of(SYNC),
                        new Quiet(),
                        TaskThreads.on(Runnable::run, 8, timekeeper),
                        timekeeper),
                () -> 0);
        workers.follow(secrets);
        workers.follow(caches.configMaps());
        pods = new Reflector<>(server.listerWatcher(ObjectKind.POD, "", "spec.nodeName=" + NODE), workers, recovery);
    }

    private record Quiet() implements PodListener {
        @Override
        public void synced(Pod pod, PodStatus status) {}

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
        return new WorkersFixture(timekeeper, server, false);
    }

    /** Stops the process without stopping the pods. */
    void stop() {
        pods.close();
        workers.close();
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

    @Override
    public void close() {
        stop();
        services.close();
        caches.close();
        if (ownsServer) {
            server.close();
            timekeeper.close();
        }
    }
}
