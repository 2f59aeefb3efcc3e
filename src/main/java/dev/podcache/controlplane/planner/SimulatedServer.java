package dev.podcache.controlplane.planner;

import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.ObservedPod;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The API server of a simulation: answers every request at once, passes every change to the controllers' cache, and
 * counts the requests. For one thread.
 */
final class SimulatedServer implements ClusterWrites, SimulatedAgent.SimulatedApis {

    private final ClusterCache cache;
    private final Timekeeper time;
    private final DeathRecord deaths;
    private final Map<SimulatedRequest, AtomicLong> requests = new EnumMap<>(SimulatedRequest.class);
    private final SimulatedNodes nodes;
    private final SimulatedLeases leases;
    private final SimulatedPods pods;

    SimulatedServer(ClusterCache cache, Timekeeper time, DeathRecord deaths) {
        this.cache = cache;
        this.time = time;
        this.deaths = deaths;
        this.nodes = new SimulatedNodes(this::count, node -> cache.nodeSink().upsert(fetched(node)));
        this.leases = new SimulatedLeases();
        this.pods = new SimulatedPods();
    }

    private final class SimulatedLeases extends SimulatedObjects<Lease> {

        SimulatedLeases() {
            super(lease -> cache.leaseSink().upsert(fetched(lease)));
        }

        @Override
        public CompletableFuture<Lease> create(Lease lease) {
            count(SimulatedRequest.OTHER);
            return super.create(lease);
        }

        @Override
        public CompletableFuture<Lease> update(Lease lease) {
            count(SimulatedRequest.LEASE);
            // not stored: agents go on from the answer
            cache.leaseSink().upsert(fetched(lease));
            return CompletableFuture.completedFuture(lease);
        }
    }

    private final class SimulatedPods extends SimulatedObjects<Pod> {

        SimulatedPods() {
            super(pod -> cache.podSink().upsert(fetched(pod)));
        }
    }

    private static <T extends HasMetadata> Fetched<T> fetched(T object) {
        return new Fetched<>(object, object.getMetadata().getResourceVersion(), 0);
    }

    /** Passes empty lists to the cache, so that the controllers begin. */
    void list() {
        cache.nodeSink().replace(List.of(), "0");
        cache.leaseSink().replace(List.of(), "0");
        cache.podSink().replace(List.of(), "0");
    }

    @Override
    public ObjectApi<Node> nodeApi() {
        return nodes;
    }

    @Override
    public ObjectApi<Lease> leaseApi() {
        return leases;
    }

    @Override
    public @Nullable Node node(String name) {
        return nodes.find(name);
    }

    void createPod(Pod pod) {
        pods.create(pod);
    }

    void count(SimulatedRequest request) {
        known(request).incrementAndGet();
    }

    /** Forgets the requests so far. */
    void resetCounts() {
        requests.values().forEach(count -> count.set(0));
    }

    long requests(SimulatedRequest request) {
        return known(request).get();
    }

    private AtomicLong known(SimulatedRequest request) {
        return requests.computeIfAbsent(request, first -> new AtomicLong());
    }

    @Override
    public CompletableFuture<Node> getNode(String name) {
        return nodes.get(ObjectKey.of("", name));
    }

    @Override
    public CompletableFuture<Node> patchConditions(ObservedNode node, List<NodeCondition> changed) {
        count(SimulatedRequest.NODE_CONDITIONS);
        if (changed.stream().anyMatch(one -> one.getType().equals("Ready") && "Unknown".equals(one.getStatus()))) {
            deaths.detected(node.name());
        }
        return CompletableFuture.completedFuture(nodes.withConditions(node.name(), changed));
    }

    @Override
    public CompletableFuture<Node> patchTaints(ObservedNode node, List<Taint> taints) {
        count(SimulatedRequest.NODE_TAINTS);
        return CompletableFuture.completedFuture(nodes.withTaints(node.name(), taints));
    }

    @Override
    public CompletableFuture<Node> annotate(String node, String annotation, String value) {
        count(SimulatedRequest.NODE_TTL);
        return CompletableFuture.completedFuture(nodes.withAnnotation(node, annotation, value));
    }

    @Override
    public CompletableFuture<Pod> patchCondition(ObservedPod pod, PodCondition condition) {
        count(SimulatedRequest.POD_STATUS);
        PodBuilder changed = new PodBuilder(pod(pod));
        changed.editOrNewStatus()
                .removeMatchingFromConditions(old -> condition.getType().equals(old.getType()))
                .addToConditions(condition)
                .endStatus();
        return CompletableFuture.completedFuture(pods.store(changed.build()));
    }

    @Override
    public CompletableFuture<Pod> delete(ObservedPod pod) {
        count(SimulatedRequest.POD_DELETION);
        deaths.evicted(pod.node());
        Pod deleted = new PodBuilder(pod(pod))
                .editMetadata()
                .withDeletionTimestamp(ApiTime.of(time.wallTime()))
                .endMetadata()
                .build();
        return CompletableFuture.completedFuture(pods.store(deleted));
    }

    private Pod pod(ObservedPod pod) {
        Pod found = pods.find(pod.key().name());
        if (found == null) {
            throw new IllegalStateException("pod " + pod + " is not simulated");
        }
        return found;
    }
}
