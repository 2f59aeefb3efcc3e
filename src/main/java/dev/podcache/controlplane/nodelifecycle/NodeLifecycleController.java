package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ClusterWrites;
import dev.podcache.controlplane.cluster.ControllerLoop;
import dev.podcache.kubelet.events.EventRecorder;

/**
 * The controllers node-lifecycle and taint-eviction of kube-controller-manager. A node that is silent for the grace
 * period gets the condition Ready Unknown, its pods are marked as not ready, and it gets the taints {@code
 * node.kubernetes.io/unreachable}; a node that reports Ready False gets the taints {@code node.kubernetes.io/not-ready}.
 * Pods that do not tolerate a NoExecute taint of their node are deleted: at once, or after their {@code
 * tolerationSeconds}. Thread-safe; no method blocks.
 *
 * <p>How soon: a node that is silent becomes Unknown after the grace period and at most two monitor periods, counted
 * from its last sign of life. It gets the NoExecute taint one monitor period and 0.1 s later, or later if its zone has
 * many such nodes.
 */
public final class NodeLifecycleController {

    private final ClusterCache cache;
    private final NodeMonitor monitor;

    /**
     * Creates a controller that is not started, and adds its listeners to the cache.
     *
     * @param cache not closed; no sink of it was called yet
     * @param writes the requests of this controller
     * @param events records what happens to nodes and pods
     */
    public NodeLifecycleController(
            ClusterCache cache, ClusterWrites writes, EventRecorder events, NodeLifecycleOptions options) {
        ControllerLoop loop = cache.loop();
        LifecycleEvents recorded = new LifecycleEvents(events);
        TaintWriter taintWriter = new TaintWriter(loop, writes);
        NoExecuteTaints noExecute = new NoExecuteTaints(cache, taintWriter, options.evictionRate());
        HealthRules rules = new HealthRules(options.monitorGracePeriod(), options.startupGracePeriod());
        this.cache = cache;
        this.monitor = new NodeMonitor(
                new NodeMonitor.MonitorParts(
                        cache,
                        new HealthWrites(cache, writes, rules),
                        noExecute,
                        new Disruption(cache, noExecute, options),
                        new PodReadiness(loop, writes, recorded),
                        recorded),
                options.monitorPeriod());
        cache.addListener(new NoScheduleTaints(cache, taintWriter));
        cache.addListener(new TaintEviction(cache, recorded, new PodDeletion(loop, writes)));
        cache.addListener(monitor);
    }

    /**
     * Makes the first pass over all nodes once the cache has received its lists, and then one after each monitor
     * period. Call it once. The controller stops when the cache's loop is closed.
     */
    public void start() {
        cache.whenListed(monitor::pass);
    }
}
