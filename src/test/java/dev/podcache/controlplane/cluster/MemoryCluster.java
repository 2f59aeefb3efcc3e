package dev.podcache.controlplane.cluster;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.reflector.ReflectorSink;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cluster in memory on hand-driven time: the other side of the controllers' ports. Everything happens on the thread
 * that calls it or advances the time. Changes reach the cache at once, or after {@link #lag}. Calls are recorded.
 */
public final class MemoryCluster implements ClusterWrites {

    private final ManualTimekeeper timekeeper;
    private final ClusterCache cache;
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private final Map<String, Lease> leases = new LinkedHashMap<>();
    private final Map<ObjectKey, Pod> pods = new LinkedHashMap<>();
    private final List<String> calls = new ArrayList<>();
    private final List<FailingCall> failures = new ArrayList<>();
    private final List<Runnable> held = new ArrayList<>();
    private Duration lag = Duration.ZERO;
    private boolean holding;
    private boolean holdingAnswers;
    private boolean quiet;
    private long version;

    private record FailingCall(String call, FailureReason reason) {}

    /** Creates an empty cluster. */
    public MemoryCluster(ManualTimekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.cache = new ClusterCache(new ControllerLoop(timekeeper));
    }

    /** Returns the cache that follows this cluster. */
    public ClusterCache cache() {
        return cache;
    }

    /** Tells the cache nothing before {@link #list}, as an API server does. */
    public MemoryCluster quietUntilListed() {
        quiet = true;
        return this;
    }

    /** Sends the lists, after which the controllers begin. */
    public MemoryCluster list() {
        quiet = false;
        cache.nodeSink().replace(fetched(nodes), "1");
        cache.leaseSink().replace(fetched(leases), "1");
        cache.podSink().replace(fetched(pods), "1");
        return this;
    }

    private static <T> List<Fetched<T>> fetched(Map<?, T> objects) {
        return objects.values().stream()
                .map(object -> new Fetched<>(object, "", 0))
                .toList();
    }

    /** Sets how long a change takes to reach the cache. */
    public MemoryCluster lag(Duration value) {
        lag = value;
        return this;
    }

    /** Creates or replaces a Node. */
    public MemoryCluster put(Node node) {
        Node stored = new NodeBuilder(node)
                .editMetadata()
                .withResourceVersion(nextVersion())
                .endMetadata()
                .build();
        nodes.put(stored.getMetadata().getName(), stored);
        tell(cache.nodeSink(), stored);
        return this;
    }

    /** Creates or replaces a pod. */
    public MemoryCluster put(Pod pod) {
        Pod stored = new PodBuilder(pod)
                .editMetadata()
                .withResourceVersion(nextVersion())
                .endMetadata()
                .build();
        pods.put(ObservedPod.of(pod).key(), stored);
        tell(cache.podSink(), stored);
        return this;
    }

    /** Whether the watch of the Leases is late: renewals are not delivered. */
    public boolean leaseWatchIsLate;

    /** What happens while the Lease of a node is read, before the answer. */
    public Runnable whileLeaseIsRead = () -> {};

    /** Renews the Lease of a node. */
    public void renew(String node) {
        Lease lease = new LeaseBuilder()
                .withNewMetadata()
                .withNamespace("kube-node-lease")
                .withName(node)
                .endMetadata()
                .withNewSpec()
                .withRenewTime(ZonedDateTime.ofInstant(timekeeper.wallTime(), ZoneOffset.UTC))
                .endSpec()
                .build();
        leases.put(node, lease);
        if (!leaseWatchIsLate) {
            tell(cache.leaseSink(), lease);
        }
    }

    @Override
    public CompletableFuture<Long> renewTime(String node) {
        whileLeaseIsRead.run();
        Lease lease = leases.get(node);
        return CompletableFuture.completedFuture(
                lease == null
                        ? ClusterCache.NEVER
                        : ApiTime.micros(lease.getSpec().getRenewTime()));
    }

    /** Reports a status of Ready, as the node's agent does. */
    public void heartbeat(String node, String ready) {
        put(TestNodes.withReady(node(node), ready, timekeeper.wallTime()));
    }

    /** Deletes a Node. */
    public void deleteNode(String name) {
        Node last = existing(nodes.remove(name));
        cache.nodeSink().delete(new Fetched<>(last, nextVersion(), 0));
    }

    /** Removes a pod, as its agent does. */
    public void removePod(ObjectKey key) {
        Pod last = existing(pods.remove(key));
        cache.podSink().delete(new Fetched<>(last, nextVersion(), 0));
    }

    private <T> void tell(ReflectorSink<T> sink, T object) {
        Runnable change = () -> sink.upsert(new Fetched<>(object, "", 0));
        if (quiet) {
            return;
        }
        if (lag.isZero()) {
            change.run();
        } else {
            timekeeper.schedule(lag, change);
        }
    }

    /** Returns a Node as it is now. */
    public Node node(String name) {
        return existing(nodes.get(name));
    }

    /** Returns a pod as it is now. */
    public Pod pod(String namespace, String name) {
        return existing(pods.get(ObjectKey.of(namespace, name)));
    }

    /** Returns the calls so far, such as {@code patchTaints a}. */
    public List<String> calls() {
        return List.copyOf(calls);
    }

    /** Returns how many calls begin so. */
    public long count(String beginning) {
        return calls.stream().filter(call -> call.startsWith(beginning)).count();
    }

    /** Forgets the calls. */
    public void clearCalls() {
        calls.clear();
    }

    /** Fails the next call that begins so. */
    public void failNext(String beginning, FailureReason reason) {
        failures.add(new FailingCall(beginning, reason));
    }

    /** Holds the answers of calls from now on; they take effect when they are released. */
    public void hold() {
        holding = true;
    }

    /** Holds the answers of calls from now on; they take effect at once. */
    public void holdAnswers() {
        holdingAnswers = true;
    }

    /** Lets the held calls, and all later ones, take effect and be answered. */
    public void release() {
        holding = false;
        holdingAnswers = false;
        List<Runnable> waiting = List.copyOf(held);
        held.clear();
        waiting.forEach(Runnable::run);
    }

    @Override
    public CompletableFuture<Node> getNode(String name) {
        return answer("getNode " + name, () -> existing(nodes.get(name)));
    }

    @Override
    public CompletableFuture<Node> patchConditions(ObservedNode node, List<NodeCondition> changed) {
        return answer("patchConditions " + node, () -> {
            Node current = sameVersion(node);
            put(TestNodes.withConditions(current, changed));
            return node(node.name());
        });
    }

    @Override
    public CompletableFuture<Node> patchTaints(ObservedNode node, List<Taint> taints) {
        return answer("patchTaints " + node, () -> {
            Node current = sameVersion(node);
            put(new NodeBuilder(current)
                    .editOrNewSpec()
                    .withTaints(taints)
                    .endSpec()
                    .build());
            return node(node.name());
        });
    }

    @Override
    public CompletableFuture<Node> annotate(String node, String annotation, String value) {
        return answer("annotate " + node + " " + value, () -> {
            put(new NodeBuilder(existing(nodes.get(node)))
                    .editMetadata()
                    .addToAnnotations(annotation, value)
                    .endMetadata()
                    .build());
            return node(node);
        });
    }

    @Override
    public CompletableFuture<Pod> patchCondition(ObservedPod pod, PodCondition condition) {
        return answer("patch" + condition.getType() + " " + pod, () -> {
            Pod current = existing(pods.get(pod.key()));
            put(TestPods.withCondition(current, condition));
            return existing(pods.get(pod.key()));
        });
    }

    @Override
    public CompletableFuture<Pod> delete(ObservedPod pod) {
        return answer("delete " + pod, () -> {
            Pod current = existing(pods.get(pod.key()));
            put(new PodBuilder(current)
                    .editMetadata()
                    .withDeletionTimestamp(timekeeper.wallTime().toString())
                    .endMetadata()
                    .build());
            return existing(pods.get(pod.key()));
        });
    }

    private <T> CompletableFuture<T> answer(String call, Supplier<T> effect) {
        calls.add(call);
        Optional<FailingCall> planned =
                failures.stream().filter(each -> call.startsWith(each.call())).findFirst();
        if (planned.isPresent()) {
            failures.remove(planned.get());
            return CompletableFuture.failedFuture(failure(planned.get().reason()));
        }
        CompletableFuture<T> answer = new CompletableFuture<>();
        Runnable effective = () -> {
            try {
                T result = effect.get();
                respond(() -> answer.complete(result));
            } catch (ApiServerException refused) {
                respond(() -> answer.completeExceptionally(refused));
            }
        };
        if (holding) {
            held.add(effective);
        } else {
            effective.run();
        }
        return answer;
    }

    private void respond(Runnable response) {
        if (holdingAnswers) {
            held.add(response);
        } else {
            response.run();
        }
    }

    private Node sameVersion(ObservedNode node) {
        Node current = existing(nodes.get(node.name()));
        if (!node.resourceVersion().equals(current.getMetadata().getResourceVersion())) {
            throw failure(FailureReason.CONFLICT);
        }
        return current;
    }

    private static <T> T existing(@Nullable T object) {
        if (object == null) {
            throw failure(FailureReason.NOT_FOUND);
        }
        return object;
    }

    private static ApiServerException failure(FailureReason reason) {
        return new ApiServerException(reason, 0, null, "planned", null);
    }

    private String nextVersion() {
        version++;
        return String.valueOf(version);
    }
}
