package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.kubelet.agent.Caches;
import dev.podcache.kubelet.agent.NodePorts;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.kubelet.server.NodeView;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.node.NodeLister;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;

/**
 * An agent that only reads: watches a Node and its pods, registers the pods with the caches, and reads what they refer
 * to once a period. Writes nothing to the cluster.
 */
public final class NodeObserver implements AutoCloseable {

    private static final Duration MIN_REPORT_PERIOD = Duration.ofSeconds(5);

    private final ObjectCaching caching;
    private final CacheReports reports;
    private final NodeLister node;
    private final Podcache cache;
    private final PeriodicReads reads;
    private final AssignedPods assigned;
    private final Reflector<Pod> reflector;
    private final NodeView view;

    /**
     * Creates an observer that watches its Node and does nothing else until started.
     *
     * @param server used for everything, not closed
     * @param name the node whose pods are registered
     * @param reports of this observer; closed with it
     */
    public NodeObserver(Fabric8ApiServer server, String name, ObjectCaching caching, CacheReports reports) {
        this.caching = caching;
        this.reports = reports;
        Recovery recovery = new Recovery(server.timekeeper());
        this.node = NodeLister.following(
                name, server.listerWatcher(ObjectKind.NODE, "", "metadata.name=" + name), recovery);
        this.cache = caching.applyTo(Podcache.builder(server))
                .nodeLister(node)
                .metrics(reports.metrics())
                .build();
        this.reads = new PeriodicReads(reports.counted(new Caches(cache.secrets(), cache.configMaps())));
        this.assigned = new AssignedPods(this::register, cache::unregisterPod, reports.events());
        this.reflector =
                new Reflector<>(server.listerWatcher(ObjectKind.POD, "", NodePorts.podsOf(name)), assigned, recovery);
        this.view = new ObserverView(this, node, cache, server.timekeeper());
    }

    /** Starts to work. Returns at once. */
    public void start() {
        reflector.start();
        Duration sync = caching.syncFrequency();
        reads.start(assigned::pods, sync);
        // reports come between two syncs, so that each covers whole syncs
        Duration period = sync.multipliedBy(1 + MIN_REPORT_PERIOD.minusNanos(1).dividedBy(sync));
        reports.start(assigned::pods, period.minus(sync.dividedBy(2)), period);
    }

    public ChangeDetectionStrategy strategy() {
        return caching.strategy();
    }

    public ReadCounts counts() {
        return reports.counts();
    }

    /** Returns the number of pods whose reads wait. */
    public int podsKeptWaiting() {
        return reads.busy();
    }

    /** Returns whether everything that the pods refer to was read at least once, with any result. */
    public boolean hasReadAll() {
        // before all pods are listed, the objects read may be all objects of the first pods
        int objects = ReferencedObjects.of(pods()).objects().size();
        return assigned.isListed() && objects > 0 && reports.observedObjects() >= objects;
    }

    /** Reads an object at once and reports its change, but does not count the read. */
    public void peek(ObjectId id) {
        reports.peek(id.kind().equals(ObjectKind.SECRET) ? cache.secrets() : cache.configMaps(), id);
    }

    /** Returns the registered pods. */
    public ImmutableList<Pod> pods() {
        return assigned.pods();
    }

    /** Returns what the page of the node shows. */
    NodeView view() {
        return view;
    }

    /** Returns how many watches were opened, lost and live again, by these names. */
    public ImmutableMap<String, Long> watches() {
        return reports.watches().totals();
    }

    /** Returns the totals so far. */
    public Summary summary() {
        return reports.summary(strategy(), pods());
    }

    /** Stops reading and reporting, so that {@link #counts} do not change any more. Idempotent. */
    public void stop() {
        reflector.close();
        reads.close();
        reports.close();
    }

    @Override
    public void close() {
        stop();
        cache.close();
        node.close();
    }

    private void register(Pod pod) {
        cache.registerPod(pod);
        reads.soon(pod);
    }
}
