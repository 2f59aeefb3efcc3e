package dev.podcache.cli.controllers;

import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterReflectors;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleController;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import dev.podcache.controlplane.ttl.TtlController;
import dev.podcache.kubelet.events.EventBroadcaster;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import io.fabric8.kubernetes.api.model.ObjectReference;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/** The controllers of one time as leader, with their cache and their connections. Thread-safe. */
final class RunningControllers implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Fabric8ApiServer server;
    private final ControllerLoop loop;
    private final ClusterCache cache;
    private final EventBroadcaster broadcaster;
    private final ClusterReflectors reflectors;
    private final NodeLifecycleController lifecycle;
    private final TtlController ttl;
    private final Consumer<ProgramEvent> output;

    /**
     * Creates controllers that are not started.
     *
     * @param server closed with this object
     * @param host names this process in events
     * @param output receives what the controllers do, as events of the program
     */
    RunningControllers(
            Fabric8ApiServer server, NodeLifecycleOptions options, String host, Consumer<ProgramEvent> output) {
        this.server = server;
        this.output = output;
        loop = new ControllerLoop(server.timekeeper());
        cache = new ClusterCache(loop);
        ClusterWrites writes = ClusterWrites.to(
                server.api(ObjectKind.NODE, TIMEOUT),
                server.api(ObjectKind.POD, TIMEOUT),
                server.api(ObjectKind.LEASE, TIMEOUT));
        broadcaster = EventBroadcaster.to(
                server.api(ObjectKind.EVENT, TIMEOUT), "node-controller", host, server.timekeeper());
        lifecycle = new NodeLifecycleController(cache, writes, this::record, options);
        ttl = new TtlController(cache, writes);
        reflectors = new ClusterReflectors(
                new ClusterReflectors.WatchedCollections(
                        server.listerWatcher(ObjectKind.NODE, "", ""),
                        server.listerWatcher(ObjectKind.LEASE, "kube-node-lease", ""),
                        server.listerWatcher(ObjectKind.POD, "", "spec.nodeName!=")),
                cache,
                new Recovery(server.timekeeper()));
    }

    /** Starts to list and watch, and then the controllers. Returns at once. */
    void start() {
        ttl.start();
        lifecycle.start();
        cache.whenListed(() -> {
            int nodes = cache.nodes().size();
            output.accept(new ProgramEvent("listed", nodes + " nodes", ImmutableMap.of("nodes", nodes)));
        });
        reflectors.start();
    }

    /** Stops the controllers: no request begins after this call. Returns at once. Idempotent. */
    void halt() {
        loop.close();
    }

    /** Stops the controllers and closes their connections, for which it waits some seconds at most. Idempotent. */
    @Override
    public void close() {
        halt();
        reflectors.close();
        broadcaster.close();
        server.close();
    }

    private void record(ObjectReference about, EventRecorder.EventType type, String reason, String message) {
        broadcaster.event(about, type, reason, message);
        String namespace = Objects.requireNonNullElse(about.getNamespace(), "");
        String name = namespace.isEmpty() ? about.getName() : namespace + "/" + about.getName();
        output.accept(new ProgramEvent(
                "recorded",
                reason + "  " + message,
                ImmutableMap.of("kind", about.getKind(), "name", name, "reason", reason, "message", message)));
    }
}
