package dev.podcache.controlplane.cluster;

import dev.podcache.object.ObjectKey;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Nodes, the Leases of nodes and the pods of a cluster as last seen: one cache for all controllers. The
 * source of the changes calls the three sinks, from any thread: {@link ClusterReflectors} for an API server, or a
 * simulation. All
 * other methods are for tasks of the {@link #loop()}.
 */
public final class ClusterCache {

    /** When a node without a Lease has renewed it. */
    public static final long NEVER = Long.MIN_VALUE;

    private static final int COLLECTIONS = 3;

    private final ControllerLoop loop;
    private final ClusterListeners listeners = new ClusterListeners();
    private final List<Runnable> waiting = new ArrayList<>();
    private final NodeTable nodes = new NodeTable(listeners);
    private final LeaseTable leases = new LeaseTable(listeners);
    private final PodTable pods = new PodTable(listeners);
    private final WatchedTime time;
    private final CacheSink<Node> nodeSink;
    private final CacheSink<Lease> leaseSink;
    private final CacheSink<Pod> podSink;
    private int listed;

    /**
     * Creates an empty cache.
     *
     * @param loop runs every change of the cache, and every call of its listeners; not closed
     */
    public ClusterCache(ControllerLoop loop) {
        this.loop = loop;
        this.time = new WatchedTime(loop.timekeeper());
        this.nodeSink = new CacheSink<>(nodes, loop, this::firstListed, time);
        this.leaseSink = new CacheSink<>(leases, loop, this::firstListed, time);
        this.podSink = new CacheSink<>(pods, loop, this::firstListed, null);
    }

    /** Returns the loop of this cache and its controllers. Thread-safe. */
    public ControllerLoop loop() {
        return loop;
    }

    /** Returns the sink for all Nodes. Thread-safe. */
    public ReflectorSink<Node> nodeSink() {
        return nodeSink;
    }

    /** Returns the sink for the Leases in the namespace kube-node-lease. Thread-safe. */
    public ReflectorSink<Lease> leaseSink() {
        return leaseSink;
    }

    /** Returns the sink for all pods; those that are not assigned to a node may be left out. Thread-safe. */
    public ReflectorSink<Pod> podSink() {
        return podSink;
    }

    /** Adds a listener, which hears of changes from now on. Thread-safe before the first call of a sink. */
    public void addListener(ClusterListener listener) {
        listeners.add(listener);
    }

    /**
     * Runs {@code action} as a task of the loop once all three sinks have received a list; soon if they have. Thread-safe.
     */
    public void whenListed(Runnable action) {
        loop.execute(() -> {
            if (listed == COLLECTIONS) {
                action.run();
            } else {
                waiting.add(action);
            }
        });
    }

    /** Returns all Nodes, in the order in which they were first seen; a view. */
    public Collection<ObservedNode> nodes() {
        return nodes.all();
    }

    /** Returns a Node; null if it does not exist. */
    public @Nullable ObservedNode node(String name) {
        return nodes.get(name);
    }

    /** Returns when a node has renewed its Lease, in microseconds since 1970; {@link #NEVER} if it has none. */
    public long renewTime(String node) {
        return leases.renewTime(node);
    }

    /** Returns a pod; null if it does not exist. */
    public @Nullable ObservedPod pod(ObjectKey key) {
        return pods.get(key);
    }

    /** Returns the pods that are assigned to a node; a view. */
    public Collection<ObservedPod> podsOf(String node) {
        return pods.of(node);
    }

    /**
     * Returns nanoseconds on a clock that stands still while the Nodes or the Leases cannot be watched: a node is not
     * silent because nobody listens. Only differences are meaningful.
     */
    public long watchedNanos() {
        return time.nanos();
    }

    private void firstListed() {
        listed++;
        if (listed == COLLECTIONS) {
            waiting.forEach(loop::execute);
            waiting.clear();
        }
    }
}
