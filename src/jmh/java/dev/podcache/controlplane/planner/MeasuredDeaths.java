package dev.podcache.controlplane.planner;

import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterReflectors;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleController;
import dev.podcache.controlplane.nodelifecycle.NodeLifecycleOptions;
import dev.podcache.kubelet.agent.HollowNodes;
import dev.podcache.kubelet.agent.HollowTemplate;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Nodes that die on a real server, one after the other, and how soon the node lifecycle controller of this process
 * notices.
 */
final class MeasuredDeaths {

    private static final int DEATHS = 5;
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration BETWEEN = Duration.ofSeconds(30);

    private final RealApiServer server;
    private final KubernetesClient client;
    private final PlanSettings settings;
    private final String namespace;
    private final Random random = new Random(1);

    MeasuredDeaths(RealApiServer server, KubernetesClient client, PlanSettings settings, String namespace) {
        this.server = server;
        this.client = client;
        this.settings = settings;
        this.namespace = namespace;
    }

    /** One death, and how long it took until it was noticed. */
    record Death(Duration detectedAfter, Duration evictedAfter) {}

    /** A node that dies when its {@link #nodes} are closed. */
    private final class DyingNode {

        final String name;
        final HollowNodes nodes;
        long diedAt;
        long detectedAt;
        long evictedAt;

        DyingNode(int number) {
            HollowTemplate template = new HollowTemplate()
                    .prefix("dying-" + number + "-")
                    .leaseDuration(settings.leaseDuration)
                    .statusReport(settings.statusReport);
            name = template.name(0);
            client.resource(Secrets.of(namespace, name, "x")).create();
            client.resource(PlanRun.pod(namespace, name, name, settings)).create();
            nodes = HollowNodes.start(client, 1, template);
        }

        void die() {
            diedAt = System.nanoTime();
            nodes.close();
        }

        void look() {
            if (detectedAt == 0 && diedAt != 0 && isUnknown()) {
                detectedAt = System.nanoTime();
            }
            if (detectedAt != 0 && evictedAt == 0 && isEvicted()) {
                evictedAt = System.nanoTime();
            }
        }

        private boolean isUnknown() {
            Node node = client.nodes().withName(name).get();
            return node.getStatus().getConditions().stream()
                    .anyMatch(condition -> condition.getType().equals("Ready")
                            && condition.getStatus().equals("Unknown"));
        }

        private boolean isEvicted() {
            Pod pod = client.pods().inNamespace(namespace).withName(name).get();
            return pod == null || pod.getMetadata().getDeletionTimestamp() != null;
        }

        Death death() {
            return new Death(Duration.ofNanos(detectedAt - diedAt), Duration.ofNanos(evictedAt - diedAt));
        }
    }

    List<Death> measure() throws InterruptedException {
        try (Fabric8ApiServer api = Fabric8ApiServer.of(client, RequestLimit.UNLIMITED);
                ControllerLoop loop = new ControllerLoop(api.timekeeper())) {
            ClusterCache cache = new ClusterCache(loop);
            NodeLifecycleOptions options = NodeLifecycleOptions.DEFAULT
                    .monitorPeriod(settings.profile().monitorPeriod())
                    .monitorGracePeriod(settings.profile().grace());
            ClusterWrites writes =
                    ClusterWrites.to(api.api(ObjectKind.NODE, TIMEOUT), api.api(ObjectKind.POD, TIMEOUT));
            new NodeLifecycleController(cache, writes, (about, type, reason, message) -> {}, options).start();
            ClusterReflectors.WatchedCollections sources = new ClusterReflectors.WatchedCollections(
                    api.listerWatcher(ObjectKind.NODE, "", ""),
                    api.listerWatcher(ObjectKind.LEASE, "kube-node-lease", ""),
                    api.listerWatcher(ObjectKind.POD, "", "spec.nodeName!="));
            try (ClusterReflectors reflectors = new ClusterReflectors(sources, cache, new Recovery(api.timekeeper()))) {
                reflectors.start();
                return die();
            }
        }
    }

    private List<Death> die() throws InterruptedException {
        List<DyingNode> dying = new ArrayList<>();
        for (int i = 0; i < DEATHS; i++) {
            dying.add(new DyingNode(i));
        }
        PlanRun.await("the dying nodes run", () -> dying.stream().allMatch(node -> node.nodes.running() == 1));
        long begin =
                System.nanoTime() + settings.lease().interval().multipliedBy(2).toNanos();
        for (DyingNode node : dying) {
            long turn = begin + (long) (settings.lease().interval().toNanos() * random.nextDouble());
            lookUntil(turn, dying);
            node.die();
            begin += BETWEEN.toNanos();
        }
        PlanRun.await("all deaths are noticed", () -> {
            dying.forEach(DyingNode::look);
            return dying.stream().allMatch(node -> node.evictedAt != 0);
        });
        return dying.stream().map(DyingNode::death).toList();
    }

    private static void lookUntil(long time, List<DyingNode> dying) throws InterruptedException {
        while (System.nanoTime() - time < 0) {
            dying.forEach(DyingNode::look);
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }
}
