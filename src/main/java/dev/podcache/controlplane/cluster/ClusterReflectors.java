package dev.podcache.controlplane.cluster;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;

/** Follows an API server's Nodes, Leases of nodes and pods into a {@link ClusterCache}. Thread-safe. */
public final class ClusterReflectors implements AutoCloseable {

    private final Reflector<Node> nodes;
    private final Reflector<Lease> leases;
    private final Reflector<Pod> pods;

    /**
     * What to list and watch.
     *
     * @param nodes all Nodes
     * @param leases the Leases in the namespace kube-node-lease
     * @param pods all pods, or those that are assigned to a node
     */
    public record WatchedCollections(ListerWatcher<Node> nodes, ListerWatcher<Lease> leases, ListerWatcher<Pod> pods) {}

    /**
     * Creates reflectors that are not started.
     *
     * @param recovery shared by all reflectors of the server
     */
    public ClusterReflectors(WatchedCollections sources, ClusterCache cache, Recovery recovery) {
        this.nodes = new Reflector<>(sources.nodes(), cache.nodeSink(), recovery);
        this.leases = new Reflector<>(sources.leases(), cache.leaseSink(), recovery);
        this.pods = new Reflector<>(sources.pods(), cache.podSink(), recovery);
    }

    /** Starts with a list of each collection. Returns at once. Idempotent. */
    public void start() {
        pods.start();
        leases.start();
        nodes.start();
    }

    /** Ends the watches. Idempotent. */
    @Override
    public void close() {
        nodes.close();
        leases.close();
        pods.close();
    }
}
